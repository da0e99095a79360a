import { isJsonObject, showValue } from '../../kubernetes/index.ts';
import { onlyValue, YamlError } from '../../kubernetes/manifests/index.ts';
import type { Level } from './rule-set.ts';
import { rules } from './rules.ts';

/** Why a file of rule levels is invalid: one line for each mistake. */
export class RulesConfigError extends Error {}

/** Longest text, in characters: one line with a comment for each rule takes a tenth of that. */
const maxLength = 64 * 1024;

const levels: readonly unknown[] = ['off', 'warn', 'deny'];

export interface RulesConfig {
  levels: Map<string, Level>;
  /** Whether replacements of Machines need a permission, in namespaces that ask for it: `serve --impact`. */
  deniesImpact: boolean;
}

/**
 * Reads rule levels from YAML (or JSON) text: a map `rules` from rule id to `off`, `warn` or `deny`; and `impact`, `warn`
 * or `deny`. `false` is accepted for `off`, which is what YAML 1.1 makes of it. @throws {RulesConfigError}
 */
export function parseRulesConfig(text: string): RulesConfig {
  let content: unknown;
  try {
    content = onlyValue(text, maxLength) ?? {};
  } catch (error) {
    throw error instanceof YamlError ? new RulesConfigError(error.message) : error;
  }
  if (!isJsonObject(content)) {
    throw new RulesConfigError(`must be a map with the keys "rules", ${aMapOfLevels}, and "impact", ${impactLevels}`);
  }
  const unknown = Object.keys(content).filter((key) => key !== 'rules' && key !== 'impact');
  const mistakes = unknown.map(
    (key) => `${showValue(key)}: unknown field; there are rules, ${aMapOfLevels}, and impact, ${impactLevels}`,
  );
  const { impact = 'warn' } = content;
  if (impact !== 'warn' && impact !== 'deny') {
    mistakes.push(`impact: ${showValue(impact)} is not one of ${impactLevels.replace(' or', ',')}`);
  }
  return { levels: readLevels(content.rules, mistakes), deniesImpact: impact === 'deny' };
}

/** Reads rule levels. @throws {RulesConfigError} for unknown rules and levels, upstream rules, and `mistakes`. */
export function readLevels(value: unknown, mistakes: string[] = []): Map<string, Level> {
  const levelsById = value ?? {};
  if (!isJsonObject(levelsById)) {
    throw new RulesConfigError([...mistakes, `rules: must be ${aMapOfLevels}`].join('\n'));
  }
  const entries = Object.entries(levelsById);
  mistakes.push(...entries.flatMap(([id, level]) => mistakeIn(id, level) ?? []));
  if (mistakes.length > 0) {
    throw new RulesConfigError(mistakes.join('\n'));
  }
  return new Map(entries.map(([id, level]) => [id, levelOf(level)]));
}

const impactLevels = 'warn or deny';
const aMapOfLevels = 'a map from rule id to off, warn or deny';

const levelOf = (value: unknown): Level => (value === false ? 'off' : (value as Level));

function mistakeIn(id: string, value: unknown): string | undefined {
  const rule = rules.find((candidate) => candidate.id === id);
  if (rule === undefined) {
    return `rules: there is no rule ${showValue(id)}; "extensionconfig-webhook rules" lists them`;
  }
  if (!levels.includes(levelOf(value))) {
    return `rules.${id}: ${showValue(value)} is not one of off, warn, deny`;
  }
  return rule.upstream && value !== 'deny'
    ? `rules.${id}: Cluster API itself rejects this, so it must stay deny`
    : undefined;
}
