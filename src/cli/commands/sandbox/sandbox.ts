import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../../base/index.ts';
import { defineCommand } from '../../framework/command.ts';
import { type Call, type Flags, integerFlag, switchFlag, textFlag } from '../../framework/flags.ts';
import { logFlags, openLog } from '../../framework/log.ts';
import { UsageError, untilStopped } from '../../framework/program.ts';
import { shellPath } from '../../framework/shell-path.ts';
import { resolveFlag, resolveIn } from '../resolve-flag.ts';

const sandboxFlags = {
  port: integerFlag('PORT', 0, 65_535, 'port on 127.0.0.1; 0: any free port', { default: 0 }),
  write: textFlag('FILE', 'new file for the kubeconfig, written once everything is ready, removed at the end', {
    defaultText: 'in a temporary folder',
  }),
  resolve: {
    ...resolveFlag,
    summary: 'address of the Service of a webhook or an aggregated API server; may be repeated',
  },
  'cluster-facts': switchFlag('run the rules that need facts about the cluster'),
  impact: switchFlag('warn of Machines that a change of a Cluster or a class will replace'),
  'no-extension': switchFlag('run neither the sample extension nor the controller that discovers extensions'),
  ...logFlags,
} satisfies Flags;

const program = shellPath(fileURLToPath(new URL('bin/extensionconfig-webhook', packageRoot)));

const sample = (file: string) => shellPath(fileURLToPath(new URL(`manifests/samples/${file}`, packageRoot)));

/** Another path makes the extension unreachable for the controller. */
const movedTo = (path: string) =>
  `kubectl patch extensionconfig sample-extension --type merge -p '{"spec":{"clientConfig":{"service":{"path":${path}}}}}'`;

const extensionCommands = [
  'kubectl wait extensionconfig sample-extension --for=condition=Discovered',
  'kubectl get extensionconfigs',
  'kubectl describe extensionconfig sample-extension # its handlers and events',
  `${movedTo('"/elsewhere"')} # nothing is there`,
  'kubectl wait extensionconfig sample-extension --for=condition=Discovered=False',
  'kubectl get events',
  movedTo('null'),
];

const impactCommands = [
  `kubectl apply -f ${sample('plan/crds.yaml')}`,
  `kubectl apply -f ${sample('plan')} # a Cluster with its class`,
  `kubectl patch cluster demo --type merge -p '{"spec":{"topology":{"variables":[{"name":"nodeLabel","value":"gpu"}]}}}' # replaces Machines`,
];

/** Commands to try, each building on the previous ones. */
function commandsToTry(hasExtension: boolean, impact: boolean): string[] {
  return [
    ...(impact ? impactCommands : []),
    `kubectl apply -f ${sample('bad-target.yaml')} # rejected`,
    `kubectl apply -f ${sample('good-v1alpha1.yaml')} # a warning`,
    'kubectl get extensionconfigs -o yaml # with defaults',
    ...(hasExtension ? extensionCommands : []),
  ];
}

async function runSandbox({ flags, io }: Call<typeof sandboxFlags>): Promise<void> {
  const file = flags.write;
  if (file !== undefined && existsSync(file)) {
    throw new UsageError(`--write: ${file} exists; remove it, or name another file`);
  }
  const settings = {
    port: flags.port,
    resolve: resolveIn(new Map(flags.resolve)),
    clusterFacts: flags['cluster-facts'],
    impact: flags.impact,
    kubeconfigFile: file === undefined ? undefined : resolve(file),
    hasExtension: !flags['no-extension'],
  };
  const { hasExtension } = settings;
  using output = await openLog(io.stderr, flags);
  const { log } = output;
  // The API server and the Kubernetes client are large; no other command needs them.
  const { startSandboxWithWebhook } = await import('./start.ts');
  const sandbox = await startSandboxWithWebhook(settings, log, io.signal);
  try {
    io.stdout.write(
      [
        `API server with ExtensionConfig at ${sandbox.url}, and the webhook in front of it.`,
        'Everything is kept in memory; Ctrl-C stops the sandbox and removes it. In another terminal, try',
        '',
        `  export KUBECONFIG=${shellPath(sandbox.kubeconfigFile)}`,
        ...commandsToTry(hasExtension, flags.impact).map((command) => `  ${command}`),
        '',
      ].join('\n'),
    );
    // Not earlier, since that would delay what is ready now.
    const loop = hasExtension ? await (await import('./loop.ts')).startLoop(sandbox, log, io.signal) : undefined;
    if (loop?.port !== undefined && !io.signal.aborted) {
      io.stdout.write(
        `\nThe sample extension is listening. To rehearse a Cluster's lifecycle against it:\n\n  ${program} rehearse sample-extension --set-version v1.33.0 --delete\n\n`,
      );
    }
    await untilStopped(io);
    await loop?.stop();
  } finally {
    await sandbox.stop();
  }
  // The terminal may have been closed.
  if (io.signal.reason !== 'SIGHUP') {
    io.stdout.write(`Stopped. Everything in the sandbox is gone, and so is ${sandbox.kubeconfigFile}.\n`);
  }
}

export const command = defineCommand({
  description:
    'Starts an API server on loopback with the webhook, to try both with kubectl. Everything is kept in memory and gone at the end.',
  flags: sandboxFlags,
  run: runSandbox,
});
