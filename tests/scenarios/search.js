// SPDX-License-Identifier: GPL-3.0-or-later
// Search a manual as its page does: node search.js FOLDER <WORDS, a JSON list, writes what is found first for each.
"use strict";
const fs = require("fs");
const vm = require("vm");
const { join } = require("path");

const ready = [];
const document = { readyState: "loading", addEventListener: (_, call) => ready.push(call), getElementById: () => ({ lastChild: null }) };
const localStorage = { setItem() {} };
const location = { protocol: "file:" };
document.querySelectorAll = () => [];
const context = vm.createContext({ document, localStorage, location });
const page = fs.readFileSync(join(process.argv[2], "search.html"), "utf8");
const [script] = page.match(/document\.addEventListener\("DOMContentLoaded"[^]*?(?=<\/script>)/);
const files = ["_static/searchtools.js", "_static/language_data.js", "searchindex.js"];
const sources = files.map((file) => fs.readFileSync(join(process.argv[2], file), "utf8"));
const setUp = "const window = globalThis, SPHINX_HIGHLIGHT_ENABLED = false, DOCUMENTATION_OPTIONS = {}, _ = (text) => text, _ready = () => {};";
vm.runInContext([setUp, script, ...sources, "globalThis.Search = Search;"].join("\n"), context);
ready.forEach((call) => call());
const find = (words) => context.Search._performSearch(...context.Search._parseQuery(words)).pop();
console.log(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")).map(find)));
