import type { FieldPath } from './errors/field-path.ts';
import { showValue } from './errors/status.ts';
import { labelValueProblems, qualifiedNameProblems } from './names.ts';

/** metav1.LabelSelector: matchLabels and matchExpressions are ANDed; an empty selector matches everything. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

/** metav1.LabelSelectorRequirement. `operator` may be any string here: only validation tells whether it is known. */
export interface LabelSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

/** A problem with a selector: where it is (relative path segments), and what it is. */
interface LabelSelectorProblem {
  path: FieldPath;
  message: string;
}

const none: readonly never[] = [];

/**
 * The problems with a selector, in its order. Empty if and only if `metav1.LabelSelectorAsSelector` accepts it; that
 * function stops at the first error, this one after `most`.
 */
export function labelSelectorProblems(selector: LabelSelector, most: number): LabelSelectorProblem[] {
  const found: LabelSelectorProblem[] = [];
  const { matchLabels, matchExpressions = none } = selector;
  for (const key of matchLabels === undefined ? none : Object.keys(matchLabels)) {
    if (found.length >= most) {
      break;
    }
    const value = matchLabels?.[key] as string;
    for (const problem of qualifiedNameProblems(key)) {
      found.push({ path: ['matchLabels'], message: `key ${showValue(key)}: ${problem}` });
    }
    for (const problem of labelValueProblems(value)) {
      found.push({ path: ['matchLabels', key], message: `value ${showValue(value)} ${problem}` });
    }
  }
  for (let index = 0; index < matchExpressions.length && found.length < most; index++) {
    addRequirementProblems(
      found,
      most,
      ['matchExpressions', index],
      matchExpressions[index] as LabelSelectorRequirement,
    );
  }
  return found.length > most ? found.slice(0, most) : found;
}

function addRequirementProblems(
  found: LabelSelectorProblem[],
  most: number,
  at: FieldPath,
  { key, operator, values = [] }: LabelSelectorRequirement,
): void {
  for (const problem of qualifiedNameProblems(key)) {
    found.push({ path: [...at, 'key'], message: `key ${showValue(key)}: ${problem}` });
  }
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) {
        found.push({ path: [...at, 'values'], message: `values must not be empty for operator ${operator}` });
      }
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        found.push({ path: [...at, 'values'], message: `values must be empty for operator ${operator}` });
      }
      break;
    default:
      found.push({
        path: [...at, 'operator'],
        message: `operator ${showValue(operator)} is not one of In, NotIn, Exists, DoesNotExist`,
      });
  }
  for (let index = 0; index < values.length && found.length < most; index++) {
    const value = values[index] as string;
    for (const problem of labelValueProblems(value)) {
      found.push({ path: [...at, 'values', index], message: `value ${showValue(value)} ${problem}` });
    }
  }
}

/** Whether a selector matches a set of labels. The selector must be valid (`labelSelectorProblems` finds none). */
export function selectsLabels(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const labelOf = (key: string) => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    if (labelOf(key) !== value) {
      return false;
    }
  }
  return (selector.matchExpressions ?? []).every((requirement) => {
    const value = labelOf(requirement.key);
    switch (requirement.operator) {
      case 'In':
        return value !== undefined && (requirement.values ?? []).includes(value);
      case 'NotIn':
        return value === undefined || !(requirement.values ?? []).includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return false;
    }
  });
}

/** The values of a label that satisfy all requirements on its key. */
interface Remainder {
  mustBePresent: boolean;
  mustBeAbsent: boolean;
  /** The values that are in every In requirement, or undefined if there is none. */
  candidates: Set<string> | undefined;
  excluded: Set<string>;
}

function narrow(remainder: Remainder, { operator, values = [] }: LabelSelectorRequirement): void {
  const { candidates } = remainder;
  if (operator === 'In') {
    remainder.mustBePresent = true;
    remainder.candidates = new Set(candidates === undefined ? values : values.filter((value) => candidates.has(value)));
  } else if (operator === 'NotIn') {
    for (const value of values) {
      remainder.excluded.add(value);
    }
  } else {
    remainder.mustBePresent ||= operator === 'Exists';
    remainder.mustBeAbsent ||= operator === 'DoesNotExist';
  }
}

/**
 * Why a valid selector can never match anything (requirements on a key that contradict each other), or undefined if
 * some set of labels satisfies it.
 */
export function labelSelectorContradiction({ matchLabels, matchExpressions }: LabelSelector): string | undefined {
  // A single requirement can always be satisfied, and so can any number of matchLabels, which have different keys.
  if (!matchExpressions?.length || (matchLabels === undefined && matchExpressions.length === 1)) {
    return undefined;
  }
  const remainders = new Map<string, Remainder>();
  const narrowKey = (requirement: LabelSelectorRequirement) => {
    let remainder = remainders.get(requirement.key);
    if (remainder === undefined) {
      remainder = { mustBePresent: false, mustBeAbsent: false, candidates: undefined, excluded: new Set() };
      remainders.set(requirement.key, remainder);
    }
    narrow(remainder, requirement);
  };
  for (const key of Object.keys(matchLabels ?? {})) {
    narrowKey({ key, operator: 'In', values: [matchLabels?.[key] as string] });
  }
  matchExpressions.forEach(narrowKey);
  for (const [key, { mustBePresent, mustBeAbsent, candidates, excluded }] of remainders) {
    if (mustBePresent && mustBeAbsent) {
      return `label ${showValue(key)} must both be present and absent`;
    }
    // Without an In, infinitely many values remain; with one, only its values do.
    if (candidates !== undefined && ![...candidates].some((value) => !excluded.has(value))) {
      return `no value of label ${showValue(key)} satisfies all requirements on it`;
    }
  }
  return undefined;
}

/** The number of keys and values of a selector, which determines the time to compare it. */
export function selectorSize({ matchLabels = {}, matchExpressions = [] }: LabelSelector): number {
  let size = Object.keys(matchLabels).length;
  for (const { values = [] } of matchExpressions) {
    size += 1 + values.length;
  }
  return size;
}

function requirementsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): LabelSelectorRequirement[] {
  const labels = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  return [...labels, ...matchExpressions];
}

/** Whether some set of labels matches both of two valid selectors. */
export function selectorsOverlap(a: LabelSelector, b: LabelSelector): boolean {
  if (!a.matchExpressions?.length && !b.matchExpressions?.length) {
    // A shortcut for selectors with only matchLabels: most are, and many may be compared.
    const { matchLabels: labels = {} } = a;
    const { matchLabels: others = {} } = b;
    for (const key of Object.keys(labels)) {
      if (Object.hasOwn(others, key) && others[key] !== labels[key]) {
        return false;
      }
    }
    return true;
  }
  const matchExpressions = [...requirementsOf(a), ...requirementsOf(b)];
  return labelSelectorContradiction({ matchExpressions }) === undefined;
}

/** Whether a selector matches everything, that is, has no requirements. */
export function selectsEverything({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return matchExpressions.length === 0 && Object.keys(matchLabels).length === 0;
}
