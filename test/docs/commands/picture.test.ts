import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { installedPackages } from '../../package/installed.ts';
import { eventually } from '../../sandbox/client.ts';
import { needs } from '../../support/needs.ts';
import { commandsOf, startSandbox } from '../every-command.ts';
import { root } from '../pages.ts';
import { openTerminal } from '../terminal.ts';

/** What the first command changes. */
const cluster = [
  'kubectl apply -f manifests/samples/plan/crds.yaml',
  'kubectl wait -f manifests/samples/plan/crds.yaml --for=condition=Established',
  'kubectl apply -f manifests/samples/plan',
];

test.each(['terminal', 'plan'])('the picture %s shows the real output', {
  ...needs('kubectl'),
  timeout: 120_000,
}, async (name) => {
  const file = new URL(`docs/images/${name}.txt`, root);
  const recorded = readFileSync(file, 'utf8');
  const terminal = await openTerminal(`picture-${name}`);
  await terminal.newShell(commandsOf(await installedPackages()));
  const sandbox = await startSandbox(['--impact']);
  try {
    await terminal.run(sandbox.use);
    for (const command of cluster) {
      await terminal.run(command);
    }
    // The webhook reads the new kinds within a second, or later on a busy machine.
    const dryRun = `kubectl patch cluster demo --type merge --dry-run=server -p '{"spec":{"topology":{"variables":[{"name":"nodeLabel","value":"gpu"}]}}}' 2>&1`;
    await eventually(
      () => terminal.run(dryRun),
      ({ output }) => output.includes('replaces'),
    );
    let session = '';
    for (const command of recorded.split('\n').filter((line) => line.startsWith('$ '))) {
      const { output } = await terminal.run(`${command.slice(2)} 2>&1`);
      session += `${command}\n${output}`;
    }
    if (process.env.UPDATE_TERMINAL === 'true') {
      writeFileSync(file, session);
    } else {
      expect(session).toBe(recorded);
    }
  } finally {
    await terminal.close();
    await sandbox.stop();
  }
});
