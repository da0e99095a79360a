import { type Paint, paragraph } from '../../base/index.ts';
import { examineInstallation, type Tick } from '../../checks/doctor/index.ts';
import { ConnectionError, connect, loadKubeConfig, withRemedy } from '../../kubernetes/client/index.ts';
import { defineCommand } from '../framework/command.ts';
import { defaultsOf, type Flags, outputFlag, textFlag } from '../framework/flags.ts';
import { inFormat, jsonText, type Printer } from '../framework/layout.ts';
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

/** A tick as lines, with what to do about it. */
function tickText({ check, result, message, remedy }: Tick, paint: Paint): string {
  const [style, sign] = signs[result];
  const lines = paragraph(`${sign} ${check}: `, message, '    ');
  const remedies = remedy === undefined ? [] : paragraph('    → ', remedy, '      ');
  return [...lines, ...remedies].map((line) => `${line.replace(sign, paint(style, sign))}\n`).join('');
}

export const command = defineCommand({
  description:
    'Looks at an installation in a cluster: whether the webhooks are registered and reachable, the certificate and who renews it, the pods, the feature gate, and whether the ExtensionConfigs in the cluster would be denied today or are not discovered. Nothing is written: the API server is asked for one dry run.',
  flags: doctorFlags,
  help: `
Exit code: 0 all is well, 1 something is not (with what to do), 2 usage error.`,
  async run({ flags, io }) {
    const cluster = connect(await orNoCluster(loadKubeConfig(flags, io.env)), io.signal, impatient);
    const ticks: Tick[] = [];
    const isWell = () => ticks.every(({ result }) => result !== 'failed');
    const printer = inFormat<typeof flags.output, Printer<Tick>>(flags.output, {
      text: () => ({ add: (tick) => tickText(tick, paintFor(io)), end: () => '' }),
      json: () => ({ add: () => '', end: () => jsonText({ ok: isWell(), ticks }) }),
    });
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
        io.stdout.write(printer.add(tick));
      }
    } catch (error) {
      throw error instanceof ConnectionError ? new FailureError(withRemedy(error)) : error;
    }
    io.stdout.write(printer.end());
    return isWell() ? exitCode.ok : exitCode.findings;
  },
});
