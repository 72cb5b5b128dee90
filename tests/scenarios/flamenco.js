// SPDX-License-Identifier: GPL-3.0-or-later
// Compile a job as Flamenco Manager does: node flamenco.js JOB_TYPE_FILE <JOB, which writes job type and tasks as JSON.
// The script has the names that the Manager gives to it, and no others.
"use strict";
const fs = require("fs");
const vm = require("vm");
const { basename, dirname, join } = require("path").posix;

class Task {
    constructor(name, type) {
        if (!name || !type) {
            throw new Error("author.Task(name, type): name and type are required");
        }
        Object.assign(this, { name, type, commands: [] });
    }
    addCommand(command) {
        this.commands.push(command);
    }
}

class Command {
    constructor(name, parameters) {
        Object.assign(this, { name, parameters });
    }
}

const tasks = [];
const job = { ...JSON.parse(fs.readFileSync(0, "utf8")), addTask: (task) => tasks.push(task) };
const names = { author: { Task: (...of) => new Task(...of), Command: (...of) => new Command(...of) } };
const context = vm.createContext({ ...names, path: { basename, dirname, join }, print() {}, alert() {}, job });
vm.runInContext(fs.readFileSync(process.argv[2], "utf8"), context);
try {
    vm.runInContext("compileJob(job)", context);
} catch (error) {
    process.stdout.write(JSON.stringify({ error: String(error) }));
    process.exit(0);
}
process.stdout.write(JSON.stringify({ jobType: vm.runInContext("JOB_TYPE", context), tasks }));
