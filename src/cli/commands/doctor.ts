import { eachOf, type Paint, paragraph } from '../../base/index.ts';
import {
  examineInstallation,
  examineObject,
  type Installation,
  type NamedObject,
  rolloutTicks,
  type Tick,
  upgradeTicks,
} from '../../checks/doctor/index.ts';
import { installedProviders, installedRelease } from '../../checks/installed-release.ts';
import { ConnectionError, connect, type KubernetesClient, loadKubeConfig } from '../../kubernetes/client/index.ts';
import { dns1123SubdomainProblems } from '../../kubernetes/index.ts';
import { createClient } from '../../runtimehooks/client/index.ts';
import type { Release } from '../../runtimehooks/index.ts';
import { defineCommand } from '../framework/command.ts';
import { type Flags, type FlagValues, outputFlag, textFlag } from '../framework/flags.ts';
import { inFormat, jsonText } from '../framework/layout.ts';
import { exitCode, type Io, paintFor, UsageError } from '../framework/program.ts';
import { releaseFlag } from './catalog-flags.ts';
import { commonFlags, defaultCaSecret } from './certs/flags.ts';
import { clusterFlags, orNoCluster, ownNamespace } from './cluster-flags.ts';
import { callsAtOnce, readExtensions, untilEnd } from './extensions.ts';
import { resolveFlag } from './resolve-flag.ts';

const doctorFlags = {
  namespace: { ...commonFlags.namespace, summary: 'namespace of the webhook' },
  service: commonFlags.service,
  secret: commonFlags.secret,
  'ca-secret': commonFlags['ca-secret'],
  'cluster-api-namespace': textFlag('NAMESPACE', "namespace of Cluster API's own controller", {
    default: 'capi-system',
  }),
  'cluster-api-version': releaseFlag('release of Cluster API to upgrade to: also find what blocks the upgrade', {
    default: undefined,
    defaultText: 'no upgrade',
  }),
  resolve: resolveFlag,
  ...clusterFlags,
  output: outputFlag(['text', 'json']),
} satisfies Flags;

type DoctorFlags = FlagValues<typeof doctorFlags>;

/** It says what is, at once; the deadline is longer than the two calls of webhooks that its dry run waits for. */
const impatient = { retries: 0, deadlineMs: 15_000 };

const signs = {
  ok: ['green', '✓'],
  failed: ['red', '✗'],
  warning: ['yellow', '!'],
  skipped: ['gray', '-'],
  note: ['gray', '-'],
} as const;

function tickText({ check, result, message, remedy }: Tick, paint: Paint): string {
  const [style, sign] = signs[result];
  const lines = paragraph(`${sign} ${check}: `, message, '    ');
  const remedies = remedy === undefined ? [] : paragraph('    → ', remedy, '      ');
  return [...lines, ...remedies].map((line) => `${line.replace(sign, paint(style, sign))}\n`).join('');
}

/** Asks all extensions for their handlers, by the rules of the release to upgrade to. */
async function lookAhead(
  cluster: KubernetesClient,
  to: Release,
  names: readonly string[],
  flags: DoctorFlags,
  io: Io,
): Promise<Tick[]> {
  using extensions = await readExtensions({ ...flags, filename: [] }, names, io);
  const { configs, resolve } = extensions;
  await using client = untilEnd(createClient({ resolve, release: to }));
  const from = await installedRelease(cluster);
  const asked = await eachOf(configs, callsAtOnce, async (config) => {
    const discovered = await client.discover(config, { signal: io.signal });
    io.signal.throwIfAborted();
    return { config, discovered };
  });
  const ofExtensions = upgradeTicks(asked, { from, to, resolve });
  return [...ofExtensions, ...rolloutTicks(await installedProviders(cluster), from, to)];
}

/** The object that an argument names; the kind may have capitals, as in manifests. @throws {UsageError} for anything else. */
function namedObject(
  text: string,
  { namespace, secret, caSecret }: Pick<Installation, 'namespace' | 'secret' | 'caSecret'>,
): NamedObject {
  const parts = text.split('/');
  const [given = '', ...rest] = parts.length === 1 ? ['extensionconfig', ...parts] : parts;
  const kind = given.toLowerCase();
  const [name = '', inNamespace = namespace] = rest.toReversed();
  const known = { extensionconfig: rest.length === 1, cluster: rest.length === 2, secret: rest.length === 1 };
  if (!Object.hasOwn(known, kind) || !known[kind as NamedObject['kind']]) {
    throw new UsageError(
      `doctor: ${JSON.stringify(text.slice(0, 300))} names no object: write extensionconfig/NAME, cluster/NAMESPACE/NAME or secret/NAME`,
    );
  }
  for (const part of rest) {
    const [problem] = dns1123SubdomainProblems(part);
    if (problem !== undefined) {
      throw new UsageError(`doctor: ${JSON.stringify(part.slice(0, 100))} is not a name: ${problem}`);
    }
  }
  if (kind === 'secret' && name !== secret && name !== caSecret) {
    throw new UsageError(
      `doctor: ${name} is not a Secret of the installation: those are ${secret} and ${caSecret} (--secret, --ca-secret)`,
    );
  }
  return { kind: kind as NamedObject['kind'], namespace: inNamespace, name };
}

export const command = defineCommand({
  description:
    'Diagnoses an installation: webhooks, certificates and their renewal, pods, the feature gate, and ExtensionConfigs that would be denied today or are not discovered. With --cluster-api-version, also finds what blocks an upgrade of Cluster API: extensions that the release would refuse or that do not answer (a manager that cannot discover every extension does not start), deprecated hooks, and changes in calls. Writes nothing: the API server is asked for one dry run.',
  args: [
    [
      '[object]',
      'explain only this object: an ExtensionConfig, cluster/NAMESPACE/NAME, or secret/NAME of the installation',
    ],
  ],
  flags: doctorFlags,
  help: `
Before an upgrade, extensions are asked for their handlers, as Cluster API does
every ten minutes; no other hook is called. From outside the cluster, Services
are reached through "kubectl port-forward".

Exit code: 0 no problems (warnings are fine), 1 problems, with what to do,
2 usage error.`,
  async run({ flags, io }, object: string | undefined) {
    const to = flags['cluster-api-version'];
    const names = {
      namespace: flags.namespace ?? ownNamespace(),
      service: flags.service,
      secret: flags.secret,
      caSecret: flags['ca-secret'] ?? defaultCaSecret,
    };
    const looked = object === undefined ? undefined : namedObject(object, names);
    if (to !== undefined && looked !== undefined && looked.kind !== 'extensionconfig') {
      throw new UsageError(
        `doctor: --cluster-api-version is about extensions, and ${object} is not one: leave out the flag or the object`,
      );
    }
    const cluster = connect(await orNoCluster(loadKubeConfig(flags, io.env)), io.signal, impatient);
    const ticks: Tick[] = [];
    const { gitVersion } = await cluster.request('GET', '/version').catch((error: unknown) => {
      if (error instanceof ConnectionError) {
        throw error;
      }
      // What it refuses is told by the looks that need it.
      return { gitVersion: '' };
    });
    const installation = {
      ...names,
      cluster,
      isSandbox: String(gitVersion).endsWith('-sandbox'),
      clusterApiNamespace: flags['cluster-api-namespace'],
      now: new Date(),
    };
    const add = async (found: AsyncIterable<Tick> | Iterable<Tick>) => {
      for await (const tick of found) {
        io.signal.throwIfAborted();
        ticks.push(tick);
        io.stdout.write(inFormat(flags.output, { text: () => tickText(tick, paintFor(io)), json: () => '' }));
      }
    };
    await add(looked === undefined ? examineInstallation(installation) : await examineObject(installation, looked));
    if (to !== undefined) {
      await add(await lookAhead(cluster, to, looked === undefined ? [] : [looked.name], flags, io));
    }
    const ok = ticks.every(({ result }) => result !== 'failed');
    io.stdout.write(inFormat(flags.output, { text: () => '', json: () => jsonText({ ok, ticks }) }));
    return ok ? exitCode.ok : exitCode.findings;
  },
});
