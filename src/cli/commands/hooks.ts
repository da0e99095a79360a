import { didYouMean } from '../../base/index.ts';
import {
  clusterApiHooks,
  coreVersionIn,
  formatRelease,
  type HookDefinition,
  hookIn,
  type MessageSchema,
  phaseIn,
  type Release,
} from '../../runtimehooks/index.ts';
import { sampleRequest, sampleResponse } from '../../runtimehooks/messages/index.ts';
import { defineCommand } from '../framework/command.ts';
import { outputFlag } from '../framework/flags.ts';
import { indentedYaml, table, writeReport } from '../framework/layout.ts';
import { UsageError } from '../framework/program.ts';
import { catalogFlags } from './catalog-flags.ts';

/** Whether a hook can block in a release; of one that the release does not have yet, whether it will. */
function blocking(hook: HookDefinition, release: Release): boolean {
  const { blockingSince, introduced } = hook;
  const at = phaseIn(hook, release) === 'future' ? introduced : release;
  return blockingSince !== undefined && phaseIn({ ...hook, introduced: blockingSince }, at) !== 'future';
}

function describe(hook: HookDefinition, release: Release) {
  const { group, version, name, tags, introduced, singleton, summary } = hook;
  const since = { introduced: formatRelease(introduced), phase: phaseIn(hook, release) };
  return { group, version, name, tags, ...since, blocking: blocking(hook, release), singleton, summary };
}

const sinceTexts = ({ fieldsSince }: HookDefinition['request']) =>
  Object.fromEntries(Object.entries(fieldsSince).map(([field, since]) => [field, formatRelease(since)]));

function explain(whole: HookDefinition, release: Release) {
  const hook = hookIn(whole, release);
  const core = coreVersionIn(whole, release);
  return {
    ...describe(hook, release),
    purpose: hook.purpose,
    changes: whole.changes.map((change) => ({ release: formatRelease(change.release), text: change.text })),
    request: { kind: hook.request.kind, fieldsSince: sinceTexts(hook.request), sample: sampleRequest(hook, core) },
    response: { kind: hook.response.kind, fieldsSince: sinceTexts(hook.response), sample: sampleResponse(hook, core) },
  };
}

/** `list of UpgradeStepInfo`, `map of string`, `Cluster`, `string`. */
function typeText(schema: MessageSchema): string {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) {
    return reference.slice(reference.lastIndexOf('.') + 1);
  }
  if (schema.items !== undefined) {
    return `list of ${typeText(schema.items)}`;
  }
  return schema.additionalProperties === undefined
    ? (schema.enum?.join(' or ') ?? schema.format ?? schema.type ?? 'any')
    : `map of ${typeText(schema.additionalProperties)}`;
}

function fieldsTable({ schema, fieldsSince }: HookDefinition['request']): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    `  ${name}`,
    typeText(field),
    [
      ...(schema.required?.includes(name) ? ['required'] : []),
      ...(fieldsSince[name] === undefined ? [] : [`since ${formatRelease(fieldsSince[name])}`]),
    ].join(', '),
    field.description ?? '',
  ]);
  return table(rows);
}

function explanationText(hook: HookDefinition, release: Release): string {
  const { request, response } = hookIn(hook, release);
  const about = explain(hook, release);
  const facts = [
    `since Cluster API ${about.introduced}`,
    ...(about.phase === 'supported' ? [] : [`${about.phase} in ${formatRelease(release)}`]),
    hook.tags.join(', '),
    ...(hook.singleton ? ['one handler for each server'] : []),
    ...(about.blocking ? ['can block'] : []),
  ];
  return [
    `${hook.name} (${hook.group}/${hook.version})\n${facts.join('; ')}\n`,
    `${hook.summary}\n${hook.purpose}\n`,
    about.changes.map(({ release: since, text }) => `Since ${since} ${text}.\n`).join(''),
    `${request.kind}:\n\n${fieldsTable(request)}`,
    `${response.kind}:\n\n${fieldsTable(response)}`,
    `A request:\n\n${indentedYaml(about.request.sample)}`,
    `A response:\n\n${indentedYaml(about.response.sample)}`,
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** A hook of Cluster API. @throws {UsageError} for an unknown name, with the most similar ones. */
export function hookNamed(name: string, where: string): HookDefinition {
  const hook = clusterApiHooks.find((candidate) => candidate.name === name);
  if (hook === undefined) {
    const names = clusterApiHooks.map((candidate) => candidate.name);
    const hint = didYouMean(name, names, '"hooks" without a name lists them');
    throw new UsageError(`${where}: there is no hook ${JSON.stringify(name.slice(0, 100))}; ${hint}`);
  }
  return hook;
}

export const command = defineCommand({
  description: 'Lists the Runtime Hooks, or explains one with its messages and a sample of each.',
  args: [['[name]', 'hook to explain']],
  flags: { ...catalogFlags, output: outputFlag(['text', 'json']) },
  run({ flags, io }, name: string | undefined) {
    const release = flags['cluster-api-version'];
    if (name !== undefined) {
      const hook = hookNamed(name, 'hooks');
      return writeReport(io, flags.output, explain(hook, release), () => explanationText(hook, release));
    }
    const rows = clusterApiHooks.map((hook) => describe(hook, release));
    return writeReport(io, flags.output, rows, () =>
      table([
        ['HOOK', 'VERSION', 'SINCE', 'STATE', 'BLOCKS', 'WHAT IT IS FOR'],
        ...rows.map(({ name, version, introduced, phase, blocking, summary }) => {
          return [name, version, introduced, phase, blocking ? 'yes' : 'no', summary];
        }),
      ]),
    );
  },
});
