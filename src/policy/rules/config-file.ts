import { parseSmallYaml, YamlError } from '../../base/index.ts';
import { isJsonObject, showValue } from '../../kubernetes/index.ts';
import type { Level } from './rule-set.ts';
import { rules } from './rules.ts';

/** Why a file of rule levels is invalid, in one line with the position in the file. */
export class RulesConfigError extends Error {}

/** Longest text, in characters: one line with a comment for each rule takes a tenth of that. */
const maxLength = 64 * 1024;

const levels: readonly unknown[] = ['off', 'warn', 'deny'];

/**
 * Reads rule levels from YAML (or JSON) text: a map `rules` from rule id to `off`, `warn` or `deny`. `false` is accepted
 * for `off`, which is what YAML 1.1 makes of it.
 *
 * @throws {RulesConfigError} for invalid YAML, an unknown rule or level, or an upstream rule that would be weakened.
 */
export function parseRulesConfig(text: string): Map<string, Level> {
  let content: unknown;
  try {
    content = parseSmallYaml(text, maxLength) ?? {};
  } catch (error) {
    throw error instanceof YamlError ? new RulesConfigError(error.message) : error;
  }
  if (
    !isJsonObject(content) ||
    Object.keys(content).some((key) => key !== 'rules') ||
    !isJsonObject(content.rules ?? {})
  ) {
    throw new RulesConfigError(
      'must be a map with the one key "rules", itself a map from rule id to off, warn or deny',
    );
  }
  const found = new Map<string, Level>();
  for (const [id, value] of Object.entries((content.rules ?? {}) as Record<string, unknown>)) {
    const rule = rules.find((candidate) => candidate.id === id);
    const level = value === false ? 'off' : value;
    if (rule === undefined) {
      throw new RulesConfigError(
        `rules: there is no rule ${showValue(id)}; "extensionconfig-webhook rules" lists them`,
      );
    }
    if (!levels.includes(level)) {
      throw new RulesConfigError(`rules.${id}: ${showValue(value)} is not one of off, warn, deny`);
    }
    if (rule.upstream && level !== 'deny') {
      throw new RulesConfigError(`rules.${id}: Cluster API itself rejects this, so it must stay deny`);
    }
    found.set(id, level as Level);
  }
  return found;
}
