import { formatFieldPath, nameOf, textAt } from '../../kubernetes/index.ts';
import {
  type Effect,
  type MachinePoolKind,
  machinePoolKinds,
  type PoolChange,
  type Rule,
} from '../machine-pools/index.ts';
import { causeOf, type Difference, differencesOf, leadsTo } from '../world/differences.ts';
import type { GroupPart } from '../world/groups.ts';
import { NotKnown } from '../world/not-known.ts';
import { listText, machinesText } from './explanations.ts';
import { type GroupUpdate, isStaying, machineCounts, partDifferences, type Rollout } from './group-plan.ts';

/** The fields of a MachinePool that its provider reads; all others are Cluster API's business, and written in place. */
const providersFields = [
  { path: ['spec', 'template', 'spec', 'version'], rule: 'version' },
  { path: ['spec', 'template', 'spec', 'bootstrap'], rule: 'config' },
  { path: ['spec', 'template', 'spec', 'infrastructureRef'], rule: undefined },
  { path: ['spec', 'failureDomains'], rule: 'failureDomains' },
] as const;

const writtenByProviders = { providerID: 'inPlace', providerIDList: 'inPlace' } as const;

interface Changed {
  part: GroupPart;
  difference: Difference;
  effect: Effect | undefined;
}

/** A difference of the infrastructure, or those within an object that is added or removed, where rules are about its fields. */
function infrastructureRules(known: MachinePoolKind | undefined, difference: Difference) {
  const { before, after } = difference;
  const [, ...path] = difference.path;
  const rules: Readonly<Record<string, Rule>> = { ...writtenByProviders, ...known?.fields };
  const name = path.join('.');
  const isInside =
    (known !== undefined && name === '') ||
    (Object.keys(rules).some((field) => field.startsWith(`${name}.`)) && !Object.hasOwn(rules, name));
  const differences = isInside ? differencesOf(before ?? {}, after ?? {}, difference.path) : [difference];
  return differences.map((one) => {
    const paths = one.path.slice(1).map((_, index, all) => all.slice(0, all.length - index).join('.'));
    return { difference: one, rule: rules[paths.find((path) => Object.hasOwn(rules, path)) ?? ''] };
  });
}

function rulesFor(known: MachinePoolKind | undefined, part: GroupPart, difference: Difference) {
  if (part === 'infrastructure') {
    return infrastructureRules(known, difference);
  }
  if (part === 'bootstrap') {
    return [{ difference, rule: known?.userData }];
  }
  const field = providersFields.find(({ path }) => leadsTo(difference.path, path));
  return field === undefined ? [] : [{ difference, rule: field.rule && known?.[field.rule] }];
}

const providersChanges = (known: MachinePoolKind | undefined, { before, after }: PoolChange): Changed[] =>
  partDifferences({ before, after }).flatMap(({ part, difference }) =>
    rulesFor(known, part, difference).map(({ difference: one, rule }) => ({
      part,
      difference: one,
      effect: known && (typeof rule === 'function' ? rule({ before, after }) : rule),
    })),
  );

const fieldsText = (changed: readonly Changed[]): string =>
  listText([...new Set(changed.map(({ difference }) => formatFieldPath(difference.path)))]);

/** @throws {NotKnown} if it is not known what the provider does. */
export function machinePoolRollout(update: GroupUpdate): Rollout {
  const { infrastructure } = update.after;
  const kind = textAt(infrastructure, 'kind');
  const known = machinePoolKinds.get(kind);
  const changed = providersChanges(known, update);
  if (changed.length === 0) {
    return {};
  }
  if (infrastructure === undefined) {
    throw new NotKnown('what its provider does is not known: its infrastructure is not among the objects', {
      remedy: 'also pass the object that infrastructureRef names',
    });
  }
  const of = (...effects: readonly (Effect | undefined)[]) => changed.filter(({ effect }) => effects.includes(effect));
  const causes = (some: readonly Changed[]) => some.map(({ part, difference }) => causeOf(part, difference, update));
  const refused = of('refused');
  if (refused.length > 0) {
    const text = `the webhook of ${kind} refuses changes of ${fieldsText(refused)}`;
    return { verdict: 'refused', causes: causes(refused), problems: [{ text }] };
  }
  const counts = machineCounts(update);
  const staying = Math.min(counts.before, counts.after);
  const replacing = of('replaces', 'replacesSurge');
  const isAll = of('replaces').length > 0;
  const isSent = of('service');
  if (known === undefined || (!isAll && of(undefined).length > 0)) {
    const text = `it is not known whether ${kind} replaces instances for ${fieldsText(of(undefined))}`;
    throw new NotKnown(text);
  }
  if (!isAll && isSent.length > 0) {
    throw new NotKnown(`${known.service} decides whether nodes are replaced for ${fieldsText(isSent)}`);
  }
  const replaced = isAll
    ? staying
    : replacing.length > 0
      ? Math.min(staying, known.surge?.(infrastructure, counts.after) ?? 0)
      : 0;
  const machines = update.machines?.filter(isStaying) ?? [];
  const isNamed = isAll && machines.length === replaced;
  const [later, ignored] = [of('newInstances', 'replacesSurge'), of('ignored')];
  return {
    replaced,
    ...(isNamed && { replaces: machines.map(({ machine }) => nameOf(machine)) }),
    causes: causes(replaced > 0 ? replacing : changed),
    manner: [
      ...(replaced > 0 ? [known.manner?.(infrastructure, counts.after) ?? []].flat() : []),
      ...(replaced > 0 && !isAll
        ? [`${machinesText(replaced)}, because capacity grows by maxSurge: the others stay`]
        : []),
      ...(later.length > 0 && replaced === 0 ? [`${fieldsText(later)}: instances stay, new ones get it`] : []),
      ...(ignored.length > 0 && !isAll ? [`${fieldsText(ignored)}: ${kind} does nothing about it`] : []),
    ],
  };
}
