import { paragraph } from '../../base/index.ts';
import { examineInstallation, type Tick } from '../../checks/doctor/index.ts';
import { ConnectionError, connect, loadKubeConfig, withRemedy } from '../../kubernetes/client/index.ts';
import { defineCommand } from '../framework/command.ts';
import { defaultsOf, type Flags, outputFlag, textFlag } from '../framework/flags.ts';
import { jsonText } from '../framework/layout.ts';
import { exitCode, FailureError, paintFor } from '../framework/program.ts';
import { commonFlags, defaultCaSecret, issuingFlags } from './certs/flags.ts';
import { clusterFlags, orNoCluster, ownNamespace } from './cluster-flags.ts';

const doctorFlags = {
  namespace: { ...commonFlags.namespace, summary: 'namespace of the webhook' },
  service: commonFlags.service,
  secret: commonFlags.secret,
  'ca-secret': commonFlags['ca-secret'],
  'cluster-api-namespace': textFlag('NAMESPACE', "namespace of Cluster API's own controller", {
    default: 'capi-system',
  }),
  ...clusterFlags,
  output: outputFlag(['text', 'json']),
} satisfies Flags;

/** It says what is, at once; the deadline is longer than the two calls of webhooks that its dry run waits for. */
const impatient = { retries: 0, deadlineMs: 15_000 };

const signs = { ok: ['green', '✓'], failed: ['red', '✗'], skipped: ['gray', '-'] } as const;

export const command = defineCommand({
  description:
    'Looks at an installation in a cluster: whether the webhooks are registered and reachable, the certificate and who renews it, the pods, the feature gate, and whether the ExtensionConfigs in the cluster would be denied today or are not discovered. Nothing is written: the API server is asked for one dry run.',
  flags: doctorFlags,
  help: `
Exit code: 0 all is well, 1 something is not (with what to do), 2 usage error.`,
  async run({ flags, io }) {
    const cluster = connect(await orNoCluster(loadKubeConfig(flags, io.env)), io.signal, impatient);
    const paint = paintFor(io);
    const ticks: Tick[] = [];
    const installation = {
      cluster,
      namespace: flags.namespace ?? ownNamespace(),
      service: flags.service,
      secret: flags.secret,
      caSecret: flags['ca-secret'] ?? defaultCaSecret,
      caRenewBeforeMs: defaultsOf(issuingFlags)['ca-renew-before'],
      clusterApiNamespace: flags['cluster-api-namespace'],
      now: new Date(),
    };
    try {
      for await (const tick of examineInstallation(installation)) {
        io.signal.throwIfAborted();
        ticks.push(tick);
        if (flags.output === 'text') {
          const [style, sign] = signs[tick.result];
          const lines = paragraph(`${sign} ${tick.check}: `, tick.message, '    ');
          const remedy = tick.remedy === undefined ? [] : paragraph('    → ', tick.remedy, '      ');
          io.stdout.write([...lines, ...remedy].map((line) => `${line.replace(sign, paint(style, sign))}\n`).join(''));
        }
      }
    } catch (error) {
      throw error instanceof ConnectionError ? new FailureError(withRemedy(error)) : error;
    }
    const isWell = ticks.every(({ result }) => result !== 'failed');
    if (flags.output === 'json') {
      io.stdout.write(jsonText({ ok: isWell, ticks }));
    }
    return isWell ? exitCode.ok : exitCode.findings;
  },
});
