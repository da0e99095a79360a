import { UsageError } from '../../base/index.ts';
import { isJsonObject, type Json, type JsonObject, showValue } from '../../kubernetes/index.ts';
import { onlyValue } from '../../kubernetes/manifests/index.ts';
import type { Level } from './rule-set.ts';
import { rules } from './rules.ts';

/** Longest text, in characters: one line with a comment for each rule takes a tenth of that. */
const maxLength = 64 * 1024;

/** What `serve --impact` does with writes that replace or delete Machines. */
export interface ImpactConfig {
  /** Whether that needs a permission, in namespaces that ask for it. */
  denies: boolean;
  /** Whether writes whose effect is not known need it, too. */
  deniesUnknown: boolean;
  /** The service accounts whose writes are not reviewed, as `NAMESPACE:NAME`, by the API group that each of them reconciles. */
  controllers: Readonly<Record<string, string>>;
}

export type RulesConfig = ReturnType<typeof parseRulesConfig>;

/** Cluster API's core, as clusterctl installs it. */
const usualControllers = { 'capi-system:capi-manager': 'cluster.x-k8s.io' };

/**
 * Reads rule levels from YAML (or JSON) text: a map `rules` from rule id to `off`, `warn` or `deny`; and `impact`: `warn`,
 * `deny`, or a map. `false` is accepted for `off`, which is what YAML 1.1 makes of it. @throws {UsageError}
 */
export function parseRulesConfig(text: string) {
  const content = onlyValue(text, maxLength) ?? {};
  const fields = `rules, ${aMapOfLevels}, and impact, ${impactLevels}`;
  if (!isJsonObject(content)) {
    throw new UsageError(`must be a map with the keys ${fields}`);
  }
  const { rules: levels, impact: impactLevel = {}, ...others } = content;
  const mistakes = Object.keys(others).map((key) => `${showValue(key)}: unknown field; there are ${fields}`);
  const impact = readImpact(impactLevel ?? {}, mistakes);
  return { levels: readLevels(levels, mistakes), impact };
}

function readImpact(value: unknown, mistakes: string[]): ImpactConfig {
  const given: JsonObject = isJsonObject(value) ? value : { replacement: value as Json };
  const { replacement = 'warn', unknown = 'deny', controllers = usualControllers, ...others } = given;
  mistakes.push(...Object.keys(others).map((key) => `impact.${key}: unknown field; there are ${impactFields}`));
  const at = isJsonObject(value) ? 'impact.replacement' : 'impact';
  for (const [path, level] of Object.entries({ [at]: replacement, 'impact.unknown': unknown })) {
    if (level !== 'warn' && level !== 'deny') {
      mistakes.push(`${path}: ${showValue(level)} is not one of warn, deny`);
    }
  }
  const accounts = Object.entries(isJsonObject(controllers) ? controllers : { '': controllers });
  if (accounts.some(([account, group]) => !/^[^:]+:[^:]+$/.test(account) || typeof group !== 'string')) {
    mistakes.push(`impact.controllers: must be a map from service account (NAMESPACE:NAME) to API group`);
  }
  return {
    denies: replacement === 'deny',
    deniesUnknown: unknown === 'deny',
    controllers: Object.fromEntries(accounts.map(([account, group]) => [account, String(group)])),
  };
}

/** Reads rule levels. @throws {UsageError} for unknown rules and levels, upstream rules, and `mistakes`. */
export function readLevels(value: unknown, mistakes: string[] = []): Map<string, Level> {
  const levelsById = value ?? {};
  if (!isJsonObject(levelsById)) {
    throw new UsageError([...mistakes, `rules: must be ${aMapOfLevels}`].join('\n'));
  }
  const entries = Object.entries(levelsById);
  mistakes.push(...entries.flatMap(([id, level]) => mistakeIn(id, level) ?? []));
  if (mistakes.length > 0) {
    throw new UsageError(mistakes.join('\n'));
  }
  return new Map(entries.map(([id, level]) => [id, (level || 'off') as Level]));
}

const impactFields = 'replacement, unknown and controllers';
const impactLevels = `warn, deny or a map with ${impactFields}`;
const aMapOfLevels = 'a map from rule id to off, warn or deny';

function mistakeIn(id: string, value: Json): string | undefined {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) {
    return `rules: there is no rule ${showValue(id)}; "extensionconfig-webhook rules" lists them`;
  }
  if (!['off', 'warn', 'deny', false].includes(value as Level)) {
    return `rules.${id}: ${showValue(value)} is not one of off, warn, deny`;
  }
  return rule.upstream && value !== 'deny'
    ? `rules.${id}: Cluster API itself rejects this, so it must stay deny`
    : undefined;
}
