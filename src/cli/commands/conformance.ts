import { didYouMean, printableJson, withoutControls } from '../../base/index.ts';
import { checks, reportAsText, testConformance } from '../../checks/conformance/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { schemasOf } from '../../kubernetes/schema/index.ts';
import { clusterApiHooks, formatHook, type HookDefinition } from '../../runtimehooks/index.ts';
import { messageProblem, problemText } from '../../runtimehooks/messages/index.ts';
import { defineCommand } from '../framework/command.ts';
import { listFlag, outputFlag, switchFlag, textFlag } from '../framework/flags.ts';
import { inFormat } from '../framework/layout.ts';
import { readLimitedFile } from '../framework/limited-file.ts';
import { exitCode, paintFor, UsageError } from '../framework/program.ts';
import { startProgress } from '../framework/progress.ts';
import { catalogFlags } from './catalog-flags.ts';
import { extensionFlags, readExtensions } from './extensions.ts';
import { crdsFlag, objectsOf, readCrds } from './manifest-objects.ts';
import { readRecording } from './plan/recorded-folder.ts';

function hookOf({ apiVersion, kind }: JsonObject, where: string): HookDefinition {
  const hook = clusterApiHooks.find(
    ({ group, version, request }) =>
      request.kind === kind && (apiVersion ?? `${group}/${version}`) === `${group}/${version}`,
  );
  if (hook === undefined || hook.singleton) {
    const named = [apiVersion, kind].filter((part) => typeof part === 'string').join(' ');
    const shown = kind === undefined ? 'an object without a kind' : withoutControls(named.slice(0, 200));
    throw new UsageError(`${where}: ${shown} is not a hook request such as GeneratePatchesRequest`);
  }
  return hook;
}

/** Requests of the user, by `formatHook`. @throws {UsageError} for an invalid one. */
function readRequests(files: readonly string[]): Map<string, JsonObject> {
  const requests = new Map<string, JsonObject>();
  for (const file of files) {
    // The limit of Cluster API's server.
    const text = readLimitedFile('--request', file, 20);
    for (const { object, where } of objectsOf(text, `--request: ${withoutControls(file)}`)) {
      const place = where();
      const hook = hookOf(object, place);
      const typed = { ...object, apiVersion: `${hook.group}/${hook.version}` };
      const problem = messageProblem(hook, 'request', typed);
      if (problem !== undefined) {
        throw new UsageError(`${place}: ${withoutControls(problemText(problem))}`);
      }
      if (requests.has(formatHook(hook))) {
        throw new UsageError(`${place}: this is a second request for ${hook.name}`);
      }
      requests.set(formatHook(hook), object);
    }
  }
  return requests;
}

const checkIds = checks.map(({ id }) => id);

export const command = defineCommand({
  description:
    'Tests extensions in any language: calls them as Cluster API does, and with unusual requests, and checks the answers.',
  args: [['[names...]', 'ExtensionConfigs (default: all in the files of -f)']],
  flags: {
    ...extensionFlags,
    output: outputFlag(['text', 'json'], 'text, or one line for each extension (json)'),
    'with-side-effects': switchFlag(
      'also call hooks that act on Clusters and machines (BeforeClusterDelete, UpdateMachine …), for made-up objects',
    ),
    request: listFlag(
      'FILE',
      'YAML file with requests that the extension can process, distinguished by kind; may be repeated',
    ),
    recorded: textFlag('DIR', 'compare the patches with a record of another release, made by "plan --record"', {
      defaultText: 'none',
    }),
    crds: crdsFlag,
    check: listFlag('ID', 'run only this check; may be repeated', {
      defaultText: 'all',
      problemsOf: (text) =>
        checkIds.includes(text)
          ? []
          : [`is not a check: ${didYouMean(text, checkIds, `the checks are ${checkIds.join(', ')}`)}`],
    }),
    ...catalogFlags,
  },
  help: `
Choose a server that is not in use. All objects are made up, in the namespace
conformance-sample.
Without --with-side-effects, only read-only hooks are called: variables,
patches, validation, upgrade plans and CanUpdate….

Exit code: 0 no check failed (warnings are fine), 1 a check failed or could not
be completed in time, 2 usage error or a file that cannot be read.`,
  async run({ flags, io }, names: string[]) {
    if (flags.filename.length === 0 && names.length === 0) {
      throw new UsageError('conformance: name the ExtensionConfigs of the cluster to test, or pass files with -f');
    }
    const requests = readRequests(flags.request);
    const recorded = flags.recorded === undefined ? undefined : readRecording(flags.recorded);
    const crds = await readCrds(flags.crds, io);
    const known = { release: flags['cluster-api-version'] };
    using extensions = await readExtensions(flags, names, io);
    const { configs, resolve } = extensions;
    let doing = '';
    using progress = startProgress(io.stderr, () => doing);
    let code: number = exitCode.ok;
    for (const config of configs) {
      const name = withoutControls(config.metadata.name ?? '');
      doing = `${name}: discovery`;
      const report = await testConformance(config, {
        known,
        recorded,
        ...(crds.length > 0 && { schemaOf: schemasOf(crds) }),
        resolve,
        withSideEffects: flags['with-side-effects'],
        requests,
        signal: io.signal,
        ...(flags.check.length > 0 && { checks: flags.check.flatMap((id) => checks.filter((one) => one.id === id)) }),
        // A hundred times what an extension takes that answers at once, and less than a job in CI may take.
        timeLimitMs: 5 * 60_000,
        onCheck: ({ id }, index, count) => {
          doing = `${name}: check ${index + 1} of ${count}, ${id}`;
        },
      });
      code = report.verdict === 'passed' ? code : exitCode.findings;
      progress.clear();
      io.stdout.write(
        inFormat(flags.output, {
          text: () => reportAsText(report, paintFor(io)),
          json: () => `${printableJson(report)}\n`,
        }),
      );
    }
    return code;
  },
});
