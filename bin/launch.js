// Starts the program, or says in one sentence why it cannot. Every Node.js since version 12 gets as far as that sentence.
'use strict';

const { spawn } = require('child_process');
const { existsSync, realpathSync } = require('fs');
const { dirname, join } = require('path');
const { pathToFileURL } = require('url');

const root = dirname(__dirname);
// A package says so in its engines; a checkout has a Node.js of its own.
const { engines, devDependencies } = require('../package.json');
const needed = Number(/\d+/.exec(engines ? engines.node : devDependencies.node)[0]);

// A checkout runs its sources, since the output of `npm run build` may be outdated.
const program = ['src/main.ts', 'main.js'].map((file) => join(root, file)).find(existsSync);

// The Node.js that `npm ci` installs in a checkout.
const pinned = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

function refuse(problem) {
  process.stderr.write(`extensionconfig-webhook: ${problem}\n`);
  process.exitCode = 2;
}

function startWith(node) {
  let child;
  // Signals from a terminal reach both processes; others reach only this one, which passes them on and waits for the
  // end.
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (!hasTerminal || signal === 'SIGTERM') {
        child.kill(signal);
      }
    });
  }
  // After the handlers: a signal that arrives while the program starts would end only this process. The channel tells the
  // program that this process has ended, even by a signal that it cannot pass on.
  child = spawn(node, process.argv.slice(1), { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  child.on('error', (error) => refuse(`${node} cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code;
    } else {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    }
  });
}

if (program === undefined) {
  refuse(`the package is not complete, ${join(root, 'main.js')} is missing: install it again`);
} else if (Number(process.versions.node.split('.')[0]) >= needed) {
  import(pathToFileURL(program).href);
} else if (existsSync(pinned) && realpathSync(pinned) !== realpathSync(process.execPath)) {
  startWith(pinned);
} else {
  const orInstall = program.endsWith('.ts') ? `, or run "npm ci" in ${root}, which brings it` : '';
  refuse(
    `this is Node.js ${process.version} (${process.execPath}), and ${needed} or newer is needed: install that${orInstall}`
  );
}
