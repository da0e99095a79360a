import { count, eachOf, printableJson, withoutControls } from '../../base/index.ts';
import { createClient, type ExtensionFinding, type Survey, surveyExtension } from '../../runtimehooks/client/index.ts';
import { defaultTimeoutSeconds } from '../../runtimehooks/index.ts';
import { defineCommand } from '../framework/command.ts';
import { outputFlag } from '../framework/flags.ts';
import { inFormat, table } from '../framework/layout.ts';
import { exitCode } from '../framework/program.ts';
import { startProgress } from '../framework/progress.ts';
import { catalogFlags } from './catalog-flags.ts';
import {
  callsAtOnce,
  type Extensions,
  extensionFlags,
  readExtensions,
  unreachableHint,
  untilEnd,
} from './extensions.ts';

function findingText({ severity, handler, message, remedy }: ExtensionFinding, extensions: Extensions): string {
  const subject = handler === undefined ? '' : `${handler}: `;
  return withoutControls(`  ${severity}: ${subject}${message}; ${unreachableHint(message, extensions) ?? remedy}`);
}

function surveyText(survey: Survey, extensions: Extensions): string {
  const { extensionConfig, status, handlers, findings, tls, latenciesMs } = survey;
  const facts = [
    status,
    ...(status === 'Discovered' ? [count(handlers.length, 'handler')] : []),
    ...(tls === undefined
      ? []
      : [`${tls.protocol}, certificate until ${tls.notAfter?.slice(0, 10) ?? 'an unreadable date'}`]),
    `${latenciesMs.map((latency) => `${latency} ms`).join(', ')}`,
  ];
  const rows = handlers.map(({ name, requestHook, timeoutSeconds = defaultTimeoutSeconds, failurePolicy }) =>
    [
      `  ${name.slice(0, name.lastIndexOf('.'))}`,
      requestHook.hook,
      requestHook.apiVersion,
      `${timeoutSeconds}s`,
      failurePolicy,
    ].map(withoutControls),
  );
  return [
    `${withoutControls(extensionConfig)}: ${facts.join('; ')}\n`,
    rows.length === 0 ? '' : table([['  HANDLER', 'HOOK', 'VERSION', 'TIMEOUT', 'POLICY'], ...rows]),
    ...findings.map((finding) => `${findingText(finding, extensions)}\n`),
  ].join('');
}

export const command = defineCommand({
  description:
    "Asks the extension servers of ExtensionConfigs, in the cluster or in files, for their handlers. Checks the answers against all rules of Cluster API, and the servers' certificates, speed and consistency. Nothing is written.",
  args: [['[names...]', 'ExtensionConfigs (default: all)']],
  flags: {
    ...extensionFlags,
    output: outputFlag(['text', 'json'], 'text, or one line for each extension (json)'),
    ...catalogFlags,
  },
  help: `
Services of the cluster are reached through "kubectl port-forward", which ends
with the command. For ExtensionConfigs in files, --resolve says where they are.

Exit code: 0 Cluster API would accept every answer (warnings are fine), 1 it
would not, 2 usage error or a file that cannot be read.`,
  async run({ flags, io }, names: string[]) {
    const known = { release: flags['cluster-api-version'] };
    using extensions = await readExtensions(flags, names, io);
    const { configs, resolve } = extensions;
    await using client = untilEnd(createClient({ resolve, ...known }));
    let [count, errors] = [0, 0];
    using progress = startProgress(io.stderr, () => `${count} of ${configs.length} ExtensionConfigs asked`);
    const surveys = await eachOf(configs, callsAtOnce, async (config) => {
      const survey = await surveyExtension(config, {
        client,
        known,
        resolve,
        signal: io.signal,
      });
      count++;
      return survey;
    });
    progress.clear();
    for (const survey of surveys) {
      errors += survey.findings.filter(({ severity }) => severity === 'error').length;
      io.stdout.write(
        inFormat(flags.output, {
          text: () => surveyText(survey, extensions),
          json: () => `${printableJson(survey)}\n`,
        }),
      );
    }
    if (configs.length === 0) {
      io.stderr.write('discover: there are no ExtensionConfigs\n');
    }
    return errors > 0 ? exitCode.findings : exitCode.ok;
  },
});
