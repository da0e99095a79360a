import { labelValueProblems, qualifiedNameProblems } from './names.ts';

/** metav1.LabelSelector: matchLabels and matchExpressions are ANDed; an empty selector selects everything. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

/** metav1.LabelSelectorRequirement. `operator` is any string here: only validation tells whether it is known. */
export interface LabelSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

/** One problem of a selector: where in it (relative path segments), and what. */
export interface LabelSelectorProblem {
  path: (string | number)[];
  message: string;
}

/**
 * Everything that is wrong with a selector. Empty exactly when `metav1.LabelSelectorAsSelector` accepts it; that
 * function stops at its first error, this one goes on.
 */
export function labelSelectorProblems(selector: LabelSelector): LabelSelectorProblem[] {
  const found: LabelSelectorProblem[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    for (const problem of qualifiedNameProblems(key)) {
      found.push({ path: ['matchLabels'], message: `key ${JSON.stringify(key)}: ${problem}` });
    }
    for (const problem of labelValueProblems(value)) {
      found.push({ path: ['matchLabels', key], message: `value ${JSON.stringify(value)} ${problem}` });
    }
  }
  for (const [index, requirement] of (selector.matchExpressions ?? []).entries()) {
    const at = ['matchExpressions', index];
    const values = requirement.values ?? [];
    for (const problem of qualifiedNameProblems(requirement.key)) {
      found.push({ path: [...at, 'key'], message: `key ${JSON.stringify(requirement.key)}: ${problem}` });
    }
    switch (requirement.operator) {
      case 'In':
      case 'NotIn':
        if (values.length === 0) {
          found.push({
            path: [...at, 'values'],
            message: `values must not be empty for operator ${requirement.operator}`,
          });
        }
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0) {
          found.push({ path: [...at, 'values'], message: `values must be empty for operator ${requirement.operator}` });
        }
        break;
      default:
        found.push({
          path: [...at, 'operator'],
          message: `operator ${JSON.stringify(requirement.operator)} is not one of In, NotIn, Exists, DoesNotExist`,
        });
    }
    for (const [valueIndex, value] of values.entries()) {
      for (const problem of labelValueProblems(value)) {
        found.push({ path: [...at, 'values', valueIndex], message: `value ${JSON.stringify(value)} ${problem}` });
      }
    }
  }
  return found;
}

/** Whether a set of labels is selected. The selector must be valid (`labelSelectorProblems` is empty). */
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

/**
 * Why a valid selector can never select anything (two requirements on one key that contradict each other), or
 * undefined when some set of labels satisfies it.
 */
export function labelSelectorContradiction(selector: LabelSelector): string | undefined {
  const requirements: LabelSelectorRequirement[] = [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...(selector.matchExpressions ?? []),
  ];
  // One requirement alone can always be met.
  if (requirements.length < 2) {
    return undefined;
  }
  for (const [key, ofKey] of Map.groupBy(requirements, (requirement) => requirement.key)) {
    const mayBeAbsent = ofKey.every(({ operator }) => operator === 'NotIn' || operator === 'DoesNotExist');
    if (mayBeAbsent) {
      continue;
    }
    if (ofKey.some(({ operator }) => operator === 'DoesNotExist')) {
      return `label ${JSON.stringify(key)} must both be present and absent`;
    }
    // The label must be present. Without an In, any of infinitely many values is left; with one, only its values are.
    const candidates = ofKey.find(({ operator }) => operator === 'In')?.values;
    const satisfiable =
      candidates === undefined ||
      candidates.some((value) =>
        ofKey.every((requirement) => selectsLabels({ matchExpressions: [requirement] }, { [key]: value })),
      );
    if (!satisfiable) {
      return `no value of label ${JSON.stringify(key)} satisfies all requirements on it`;
    }
  }
  return undefined;
}
