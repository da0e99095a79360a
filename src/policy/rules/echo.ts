import type { SchemaViolation } from '../../extensionconfig/index.ts';
import type { FieldPath } from '../../kubernetes/index.ts';
import type { RuleFinding, Severity } from './rule.ts';

type LocatedFinding = Pick<RuleFinding, 'rule' | 'severity' | 'path' | 'field'>;

const pathKey = (path: FieldPath) => JSON.stringify(path);

const notRenderedId = 'not-rendered';

/** Some paths, to look others up. */
function placesOf(paths: readonly FieldPath[]) {
  const at = new Set(paths.map(pathKey));
  const above = new Set(paths.flatMap((path) => path.map((_, index) => pathKey(path.slice(0, index)))));
  return {
    /** Whether a path is one of these, or below one. */
    hasAtOrAbove: (path: FieldPath) => path.some((_, index) => at.has(pathKey(path.slice(0, index + 1)))),
    hasBelow: (path: FieldPath) => above.has(pathKey(path)),
  };
}

/**
 * Creates a test that tells whether a finding is only an echo of another one: because its rule could not read the field
 * (which is absent from the object that the rule saw), or because the API server also makes that check and another rule
 * explains it better; or because the value is a placeholder of a template.
 *
 * @param unrendered the paths of the placeholders; they count if the rule about them has a finding.
 */
export function createEchoTest(
  reports: readonly LocatedFinding[],
  violations: readonly SchemaViolation[],
  unrendered: readonly FieldPath[],
): (report: LocatedFinding) => boolean {
  const wrongType = violations.filter(({ problem, value }) => problem === 'type' && value !== null);
  const overLimit = violations.filter(({ problem }) => problem === 'tooLong' || problem === 'tooMany');
  const unreadByUpstream = placesOf(wrongType.map(({ path }) => path));
  const notRendered = reports.find(({ rule }) => rule.id === notRenderedId);
  const placeholders = placesOf(notRendered === undefined ? [] : unrendered);
  const unread = placesOf([...wrongType, ...overLimit].map(({ path }) => path));

  /** The highest severity on each field, of findings that are not fallbacks. */
  const explained = new Map<string, Severity>();
  for (const { rule, field, severity } of reports) {
    if (!rule.isFallback && explained.get(field) !== 'deny') {
      explained.set(field, severity);
    }
  }

  return ({ rule, severity, path, field }) => {
    if (rule.id === notRenderedId) {
      return false;
    }
    if (notRendered !== undefined && (notRendered.severity === 'deny' || severity === 'warn')) {
      // Findings about requirements of the selector are findings about the selector.
      const isAbout =
        placeholders.hasAtOrAbove(path) || (path[1] === 'namespaceSelector' && placeholders.hasBelow(path));
      if (isAbout) {
        return true;
      }
    }
    if (rule.id === 'field-type') {
      return false;
    }
    if (rule.isFallback) {
      const other = explained.get(field);
      return other === 'deny' || (other !== undefined && severity === 'warn') || unreadByUpstream.hasAtOrAbove(path);
    }
    const paths = rule.upstream ? unreadByUpstream : unread;
    return paths.hasAtOrAbove(path) || paths.hasBelow(path);
  };
}
