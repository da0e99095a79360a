import type { SchemaViolation } from '../api/index.ts';
import type { FieldPath } from '../kubernetes/index.ts';
import type { Rule, Severity } from './rule.ts';

interface RuleReport {
  rule: Rule;
  severity: Severity;
  path: FieldPath;
  field: string;
}

const keyOf = (path: FieldPath) => JSON.stringify(path);

/** Places of an object that a rule could not read. */
class UnreadPlaces {
  readonly #places = new Set<string>();
  readonly #above = new Set<string>();

  constructor(paths: readonly FieldPath[]) {
    for (const path of paths) {
      this.#places.add(keyOf(path));
      for (let length = 0; length <= path.length; length++) {
        this.#above.add(keyOf(path.slice(0, length)));
      }
    }
  }

  /** Whether a path is one of the places, or leads below one. */
  hasAtOrAbove(path: FieldPath): boolean {
    return this.#places.size > 0 && path.some((_, index) => this.#places.has(keyOf(path.slice(0, index + 1))));
  }

  /** Whether a path is one of the places, or leads to what holds one. */
  hasAtOrBelow(path: FieldPath): boolean {
    return this.#places.size > 0 && this.#above.has(keyOf(path));
  }
}

/**
 * Makes the test whether a finding is only an echo: of a field that its rule could not read (it is absent from the
 * object that the rule saw, which therefore misses it), or of a check that the API server has too and that another rule
 * explains better.
 */
export function createEchoTest(
  reports: readonly RuleReport[],
  violations: readonly SchemaViolation[],
): (report: RuleReport) => boolean {
  // The violation without a path counts others.
  const placed = violations.filter(({ path }) => path.length > 0);
  const wrongType = placed.filter(({ problem, value }) => problem === 'type' && value !== null);
  const overLimit = placed.filter(({ problem }) => problem === 'tooLong' || problem === 'tooMany');
  const unreadByUpstream = new UnreadPlaces(wrongType.map(({ path }) => path));
  const unread = new UnreadPlaces([...wrongType, ...overLimit].map(({ path }) => path));

  /** The gravest finding of each field that stands for itself. */
  const explained = new Map<string, Severity>();
  for (const { rule, field, severity } of reports) {
    if (!rule.givesWay && explained.get(field) !== 'deny') {
      explained.set(field, severity);
    }
  }

  return ({ rule, severity, path, field }) => {
    if (rule.id === 'field-type') {
      return false;
    }
    if (rule.givesWay) {
      const other = explained.get(field);
      return other === 'deny' || (other !== undefined && severity === 'warn') || unreadByUpstream.hasAtOrAbove(path);
    }
    const places = rule.upstream ? unreadByUpstream : unread;
    return places.hasAtOrAbove(path) || places.hasAtOrBelow(path);
  };
}
