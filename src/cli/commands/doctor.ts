import { paragraph } from '../../base/index.ts';
import { examineInstallation, type Tick } from '../../checks/doctor/index.ts';
import { ConnectionError, connect, loadKubeConfig, shortRetries, withRemedy } from '../../kubernetes/client/index.ts';
import { defineCommand } from '../framework/command.ts';
import { type Flags, outputFlag, textFlag } from '../framework/flags.ts';
import { jsonText } from '../framework/layout.ts';
import { exitCode, FailureError, paintFor } from '../framework/program.ts';
import { commonFlags } from './certs/flags.ts';
import { clusterFlags, orNoCluster } from './cluster-flags.ts';
import { ownNamespace } from './own-namespace.ts';

const doctorFlags = {
  namespace: { ...commonFlags.namespace, summary: 'namespace of the webhook' },
  service: commonFlags.service,
  secret: commonFlags.secret,
  'cluster-api-namespace': textFlag('NAMESPACE', "namespace of Cluster API's own controller", {
    default: 'capi-system',
  }),
  ...clusterFlags,
  output: outputFlag(['text', 'json']),
} satisfies Flags;

const signs = { ok: ['green', '✓'], failed: ['red', '✗'], skipped: ['gray', '-'] } as const;

async function* untilUnreachable(ticks: AsyncIterable<Tick>): AsyncGenerator<Tick> {
  try {
    yield* ticks;
  } catch (error) {
    throw error instanceof ConnectionError ? new FailureError(withRemedy(error)) : error;
  }
}

export const command = defineCommand({
  description:
    'Looks at an installation in a cluster: whether the webhooks are registered and reachable, the certificate and who renews it, the pods, the feature gate, and whether the ExtensionConfigs in the cluster would be denied today or are not discovered. Nothing is written: the API server is asked for one dry run.',
  flags: doctorFlags,
  help: `
Exit code: 0 all is well, 1 something is not (with what to do), 2 usage error.`,
  async run({ flags, io }) {
    const cluster = connect(await orNoCluster(loadKubeConfig(flags, io.env)), io.signal, shortRetries);
    const paint = paintFor(io);
    const ticks: Tick[] = [];
    const installation = {
      cluster,
      namespace: flags.namespace ?? ownNamespace(),
      service: flags.service,
      secret: flags.secret,
      clusterApiNamespace: flags['cluster-api-namespace'],
      now: new Date(),
    };
    for await (const tick of untilUnreachable(examineInstallation(installation))) {
      io.signal.throwIfAborted();
      ticks.push(tick);
      if (flags.output === 'text') {
        const [style, sign] = signs[tick.result];
        const lines = paragraph(`${sign} ${tick.check}: `, tick.message, '    ');
        const remedy = tick.remedy === undefined ? [] : paragraph('    → ', tick.remedy, '      ');
        io.stdout.write([...lines, ...remedy].map((line) => `${line.replace(sign, paint(style, sign))}\n`).join(''));
      }
    }
    const isWell = ticks.every(({ result }) => result !== 'failed');
    if (flags.output === 'json') {
      io.stdout.write(jsonText({ ok: isWell, ticks }));
    }
    return isWell ? exitCode.ok : exitCode.findings;
  },
});
