// Starts the program, or says in one sentence why it cannot. Written in ES2015 and without `node:` names, so that every
// Node.js in use gets as far as that sentence.
'use strict';

const childProcess = require('child_process');
const fs = require('fs');
const path = require('path');

const root = path.dirname(__dirname);
const needed = Number(/\d+/.exec(require('../package.json').engines.node)[0]);

// A checkout runs its sources, since the output of `npm run build` may be outdated.
const program = ['src/main.ts', 'dist/main.js'].map((file) => path.join(root, file)).filter(fs.existsSync)[0];

// The Node.js that `npm ci` installs in a checkout.
function pinnedNode() {
  const file = path.join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return fs.existsSync(file) && fs.realpathSync(file) !== fs.realpathSync(process.execPath) ? file : undefined;
}

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
  // After the handlers: a signal that arrives while the program starts would end only this process.
  child = childProcess.spawn(node, process.argv.slice(1), { stdio: 'inherit' });
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
  refuse(`the package is not complete, ${path.join(root, 'dist/main.js')} is missing: install it again`);
} else if (Number(process.versions.node.split('.')[0]) >= needed) {
  require('./load.js')(program);
} else if (pinnedNode() !== undefined) {
  startWith(pinnedNode());
} else {
  const ofCheckout = program.endsWith('.ts') ? `, or run "npm ci" in ${root}, which brings it` : '';
  refuse(
    `this is Node.js ${process.version} (${process.execPath}), and ${needed} or newer is needed: install that${ofCheckout}`
  );
}
