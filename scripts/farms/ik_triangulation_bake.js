// SPDX-License-Identifier: GPL-3.0-or-later
//
// Flamenco job type (3.5 or later): bake the shots of a list, several in each task. Copy this file into the folder
// `scripts` beside flamenco-manager, and restart it. The manual's page "Farms" explains it.

const JOB_TYPE = {
    label: "IK Triangulation: Bake Shots",
    settings: [
        { key: "folder", type: "string", subtype: "dir_path", required: true, visible: "submission",
          eval: "bpy.path.abspath('//')", description: "Folder with the shots" },
        { key: "shots", type: "string", required: true,
          eval: "'; '.join(sorted(shot.name for shot in abspath(settings.folder).glob('*.blend')))",
          evalInfo: { showLinkButton: true, description: "All .blend files in the folder" },
          description: ".blend files to bake, relative to the folder, with semicolons between them" },
        { key: "output", type: "string", subtype: "dir_path", required: true, visible: "submission",
          description: "Folder for the baked files and their reports, in the folders of the shots" },
        { key: "options", type: "string", default: "--all", description: "Options of the command bake, for all shots" },
        { key: "shots_per_task", type: "int32", default: 20,
          description: "Shots that a task bakes in one Blender. More save start-up, fewer show progress sooner" },
        { key: "program", type: "string", choices: ["Blender", "pip package"], default: "Blender",
          description: "What the workers have: Blender with the extension, or the pip package" },

        // What the add-on makes of the folders, which an artist may have chosen relative to the open file.
        { key: "absolute_folder", type: "string", visible: "hidden", eval: "str(abspath(settings.folder))" },
        { key: "absolute_output", type: "string", visible: "hidden", eval: "str(abspath(settings.output))" },
    ]
};

// The command of a task for each program, given the words of the command line from `bake` on.
const COMMANDS = {
    "Blender": (words) => author.Command("blender-render", {
        exe: "{blender}",
        exeArgs: "{blenderArgs}",
        argsBefore: ["--factory-startup", "--addons", "bl_ext.user_default.ik_triangulation"],
        blendfile: "", // The command opens the files.
        args: ["--command", "ik_triangulation"].concat(words),
    }),
    "pip package": (words) => author.Command("exec", { exe: "ik-triangulation", args: words }),
};

function compileJob(job) {
    const settings = job.settings;
    const command = COMMANDS[settings.program || "Blender"];
    if (!command) {
        throw `There is no program "${settings.program}". Choose one of: ${Object.keys(COMMANDS).join(", ")}`;
    }
    const folder = settings.absolute_folder || settings.folder;
    const output = settings.absolute_output || settings.output;
    const shots = (settings.shots || "").split(/[;\n]/).map(shot => shot.trim()).filter(shot => shot);
    if (!folder || !output || shots.length == 0) {
        throw "Name the folder of the shots, at least one shot in it, and a folder for the output";
    }
    const size = Math.max(1, settings.shots_per_task || 20);
    for (let first = 0; first < shots.length; first += size) {
        const some = shots.slice(first, first + size).map(inside);
        const name = some.length == 1 ? some[0] : `${some[0]} to ${some[some.length - 1]}`;
        const task = author.Task(name, "blender");
        task.addCommand(command(wordsFor(some, folder, output, settings.options)));
        job.addTask(task);
    }
}

// The path of a shot in the folder, with / between folders.
function inside(shot) {
    const parts = shot.split(/[\\/]/);
    if (!shot.endsWith(".blend") || parts.includes("..") || parts[0] == "" || parts[0].includes(":")) {
        throw `The shot is "${shot}". Name a .blend file inside the folder, relative to it`;
    }
    return parts.join("/");
}

function wordsFor(shots, folder, output, options) {
    return ["bake-list", folder, "--output", output, "--accept-misses"]
        .concat((options === undefined ? "--all" : options).split(/\s+/).filter(word => word))
        .concat(["--shots"], shots); // last, as it takes all that follows
}
