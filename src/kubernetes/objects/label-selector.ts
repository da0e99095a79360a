import type { FieldPath } from './errors/field-path.ts';
import { showValue } from './errors/status.ts';
import { own } from './json/json.ts';
import { labelValueProblems, qualifiedNameProblems } from './names.ts';

/** metav1.LabelSelector: matchLabels and matchExpressions are ANDed; an empty selector matches everything. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

/** metav1.LabelSelectorRequirement, where an absent field is an empty one, and `operator` may be any string. */
export interface LabelSelectorRequirement {
  key?: string;
  operator?: string;
  values?: string[];
}

interface LabelSelectorProblem {
  path: FieldPath;
  message: string;
}

const needsValues = new Map(Object.entries({ In: true, NotIn: true, Exists: false, DoesNotExist: false }));

/** The first `most` problems with a selector, in its order; none if `metav1.LabelSelectorAsSelector` accepts it. */
export function labelSelectorProblems(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  most = 1,
): LabelSelectorProblem[] {
  const found: LabelSelectorProblem[] = [];
  for (const key of Object.keys(matchLabels)) {
    if (found.length >= most) {
      break;
    }
    const value = matchLabels[key] as string;
    for (const problem of qualifiedNameProblems(key)) {
      found.push({ path: ['matchLabels'], message: `key ${showValue(key)}: ${problem}` });
    }
    for (const problem of labelValueProblems(value)) {
      found.push({ path: ['matchLabels', key], message: `value ${showValue(value)} ${problem}` });
    }
  }
  for (let index = 0; index < matchExpressions.length && found.length < most; index++) {
    const { key = '', operator = '', values = [] } = matchExpressions[index] as LabelSelectorRequirement;
    for (const problem of qualifiedNameProblems(key)) {
      found.push({ path: ['matchExpressions', index, 'key'], message: `key ${showValue(key)}: ${problem}` });
    }
    const needed = needsValues.get(operator);
    if (needed === undefined) {
      const message = `operator ${showValue(operator)} is not one of ${[...needsValues.keys()].join(', ')}`;
      found.push({ path: ['matchExpressions', index, 'operator'], message });
    } else if (needed !== values.length > 0) {
      const must = needed ? 'must not be empty' : 'must be empty';
      found.push({ path: ['matchExpressions', index, 'values'], message: `values ${must} for operator ${operator}` });
    }
    for (let number = 0; number < values.length && found.length < most; number++) {
      const value = values[number] as string;
      for (const problem of labelValueProblems(value)) {
        found.push({
          path: ['matchExpressions', index, 'values', number],
          message: `value ${showValue(value)} ${problem}`,
        });
      }
    }
  }
  return found.slice(0, most);
}

/** The requirements of a selector, where null in a manifest is an absent field; a label is an In with one value. */
function requirementsOf({ matchLabels, matchExpressions }: LabelSelector): LabelSelectorRequirement[] {
  const labels = Object.entries(matchLabels ?? {}).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  return [...labels, ...(matchExpressions ?? [])];
}

/** Whether a selector matches a set of labels. The selector must be valid (`labelSelectorProblems` finds none). */
export function selectsLabels(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return requirementsOf(selector).every(({ key = '', operator, values = [] }) => {
    const value = own(labels, key);
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      default:
        return operator === 'DoesNotExist' && value === undefined;
    }
  });
}

function contradictionIn(key: string, requirements: readonly LabelSelectorRequirement[]): string | undefined {
  const valuesOf = (wanted: string) =>
    requirements.filter(({ operator }) => operator === wanted).map(({ values = [] }) => values);
  const isIn = requirements.some(({ operator }) => operator === 'In' || operator === 'Exists');
  if (isIn && requirements.some(({ operator }) => operator === 'DoesNotExist')) {
    return `label ${showValue(key)} must both be present and absent`;
  }
  const excluded = new Set(valuesOf('NotIn').flat());
  const [first, ...others] = valuesOf('In').map((values) => new Set(values));
  // Without an In, infinitely many values remain; with one, only its values do.
  const isLeft = (value: string) => !excluded.has(value) && others.every((other) => other.has(value));
  return first !== undefined && ![...first].some(isLeft)
    ? `no value of label ${showValue(key)} satisfies all requirements on it`
    : undefined;
}

/** Why a valid selector can never match anything (requirements on a key contradict each other); undefined if it can. */
export function labelSelectorContradiction(selector: LabelSelector): string | undefined {
  for (const [key, requirements] of Map.groupBy(requirementsOf(selector), ({ key = '' }) => key)) {
    const contradiction = requirements.length === 1 ? undefined : contradictionIn(key, requirements);
    if (contradiction !== undefined) {
      return contradiction;
    }
  }
  return undefined;
}

/** The number of keys and values of a selector, which determines the time to compare it. */
export function selectorSize({ matchLabels = {}, matchExpressions = [] }: LabelSelector): number {
  return matchExpressions.reduce((size, { values = [] }) => size + 1 + values.length, Object.keys(matchLabels).length);
}

/** Whether some set of labels matches both of two valid selectors. */
export function selectorsOverlap(a: LabelSelector, b: LabelSelector): boolean {
  const matchExpressions = [...requirementsOf(a), ...requirementsOf(b)];
  return labelSelectorContradiction({ matchExpressions }) === undefined;
}

/** Whether a selector matches everything, that is, has no requirements. */
export const selectsEverything = (selector: LabelSelector): boolean => requirementsOf(selector).length === 0;

const requirement =
  /\s*(?:!\s*(?<absent>[^\s=!(),]+)|(?<key>[^\s=!(),]+)(?:\s*(?<equality>==?|!=)(?:\s*(?<value>[^\s=!(),]+))?|\s+(?<set>in|notin)\s*\((?<values>[^()]*)\))?)\s*(?:,(?!$)|$)/gy;

function requirementsIn(text: string): LabelSelectorRequirement[] | { problem: string } {
  let end = 0;
  const requirements = [...text.matchAll(requirement)].map(({ 0: whole, groups = {} }): LabelSelectorRequirement => {
    end += whole.length;
    const { absent, key = '', equality, value = '', set, values = '' } = groups;
    if (absent !== undefined) {
      return { key: absent, operator: 'DoesNotExist' };
    }
    if (equality !== undefined) {
      return { key, operator: equality === '!=' ? 'NotIn' : 'In', values: [value] };
    }
    return set === undefined
      ? { key, operator: 'Exists' }
      : { key, operator: set === 'in' ? 'In' : 'NotIn', values: values.split(',').map((one) => one.trim()) };
  });
  const forms = 'must have one of the forms k, !k, k=v, k!=v, k in (a,b), k notin (a,b)';
  return end < text.length ? { problem: `${JSON.stringify(text.slice(end).trim())} ${forms}` } : requirements;
}

/** Reads a label selector as kubectl has it, `a=b,c in (d,e),!f`: whether it selects labels, or what is wrong with it. */
export function readLabelSelector(
  text: string,
): ((labels: Readonly<Record<string, string>>) => boolean) | { problem: string } {
  const matchExpressions = requirementsIn(text);
  if ('problem' in matchExpressions) {
    return matchExpressions;
  }
  const [problem] = labelSelectorProblems({ matchExpressions });
  return problem === undefined ? (labels) => selectsLabels({ matchExpressions }, labels) : { problem: problem.message };
}
