import { LineCounter, parseDocument } from 'yaml';
import { isJsonObject } from '../kubernetes/index.ts';
import type { Level } from './rule-set.ts';
import { rules } from './rules.ts';

/** Why a file of rule levels cannot be used: one line, with the place in it. */
export class RulesConfigError extends Error {}

const levels: readonly unknown[] = ['off', 'warn', 'deny'];

/**
 * Reads rule levels from YAML (or JSON) text: a map `rules` from rule id to `off`, `warn` or `deny`. YAML 1.1's bare
 * `off` may have become false; both are taken.
 *
 * @throws {RulesConfigError} for no YAML, an unknown rule or level, or an upstream rule that would be weakened.
 */
export function parseRulesConfig(text: string): Map<string, Level> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: 'silent' });
  const error = document.errors[0];
  if (error !== undefined) {
    throw new RulesConfigError(`line ${lines.linePos(error.pos[0]).line}: ${error.message.split('\n')[0]}`);
  }
  const content: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
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
        `rules: there is no rule ${JSON.stringify(id)}; "extensionconfig-webhook rules" lists them`,
      );
    }
    if (!levels.includes(level)) {
      throw new RulesConfigError(`rules.${id}: ${JSON.stringify(value)} is not one of off, warn, deny`);
    }
    if (rule.upstream && level !== 'deny') {
      throw new RulesConfigError(`rules.${id}: Cluster API itself rejects this, so it must stay deny`);
    }
    found.set(id, level as Level);
  }
  return found;
}
