import { formatFieldPath, nameOf, textAt } from '../../kubernetes/index.ts';
import { type Effect, type MachinePoolKind, machinePoolKinds, type PoolChange } from '../machine-pools/index.ts';
import { causeOf, type Difference, differencesOf, leadsTo } from '../world/differences.ts';
import type { GroupPart } from '../world/groups.ts';
import { NotKnown } from '../world/not-known.ts';
import { listText, machinesText } from './explanations.ts';
import { type GroupUpdate, isStaying, machineCounts, nothing, objectDifferences, type Rollout } from './group-plan.ts';

/** The fields of a MachinePool that its provider reads; all others are Cluster API's business, and written in place. */
const providersFields = [
  ...['version', 'bootstrap', 'infrastructureRef'].map((field) => ['spec', 'template', 'spec', field]),
  ['spec', 'failureDomains'],
];

/** A field that changes, and what its provider makes of it; undefined if that is not known. */
interface Changed {
  part: GroupPart;
  difference: Difference;
  effect: Effect | undefined;
}

/** The effect of a field: that of the longest path which leads to it. */
function effectOf({ fields }: MachinePoolKind, part: GroupPart, { path }: Difference, change: PoolChange) {
  const paths = path.map((_, index) => path.slice(0, path.length - index).join('.'));
  const found = [...paths, ''].find((one) => Object.hasOwn(fields[part], one));
  const rule = found === undefined ? undefined : fields[part][found];
  return typeof rule === 'function' ? rule(change) : rule;
}

/** A difference, or those within an object that is added or removed, where rules are about its fields. */
function judgedParts({ fields }: MachinePoolKind, part: GroupPart, difference: Difference): Difference[] {
  const { path, before, after } = difference;
  const name = path.join('.');
  const isInside = Object.keys(fields[part]).some((field) => field.startsWith(`${name}.`));
  return isInside && !Object.hasOwn(fields[part], name) ? differencesOf(before ?? {}, after ?? {}, path) : [difference];
}

function providersChanges({ before, after }: PoolChange): { part: GroupPart; difference: Difference }[] {
  const ofObject = objectDifferences({ before, after }).filter(({ path }) =>
    providersFields.some((field) => leadsTo(path, field)),
  );
  return [
    ...ofObject.map((difference) => ({ part: 'object' as const, difference })),
    ...(['bootstrap', 'infrastructure'] as const).flatMap((part) =>
      differencesOf(before[part]?.spec, after[part]?.spec, ['spec']).map((difference) => ({ part, difference })),
    ),
  ];
}

const fieldsText = (changed: readonly Changed[]): string =>
  listText([...new Set(changed.map(({ difference }) => formatFieldPath(difference.path)))]);

/**
 * Decides what happens to a MachinePool's instances, as its provider does, as far as that is known.
 *
 * @throws {NotKnown} if it is not.
 */
export function machinePoolRollout(update: GroupUpdate): Rollout {
  const { before, after, change } = update;
  const changes = providersChanges(update);
  if (changes.length === 0) {
    return nothing();
  }
  const { infrastructure } = after;
  if (infrastructure === undefined) {
    throw new NotKnown('what its provider does is not known: its infrastructure is not among the objects', {
      remedy: 'also pass the object that infrastructureRef names',
    });
  }
  const kind = textAt(infrastructure, 'kind');
  const known = machinePoolKinds.get(kind);
  const changed = changes.flatMap(({ part, difference }): Changed[] =>
    known === undefined
      ? [{ part, difference, effect: undefined }]
      : judgedParts(known, part, difference).map((one) => ({
          part,
          difference: one,
          effect: effectOf(known, part, one, { before, after }),
        })),
  );
  const of = (...effects: readonly (Effect | undefined)[]) => changed.filter(({ effect }) => effects.includes(effect));
  const causes = (some: readonly Changed[]) =>
    some.map(({ part, difference }) => causeOf(part, difference, update, change.from));
  const refused = of('refused');
  if (refused.length > 0) {
    const text = `the webhook of ${kind} refuses changes of ${fieldsText(refused)}`;
    return { ...nothing(), verdict: 'refused', causes: causes(refused), problems: [{ text }] };
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
  const machines = change.machines?.filter(isStaying) ?? [];
  const isNamed = isAll && machines.length === replaced;
  const [later, ignored] = [of('newInstances', 'replacesSurge'), of('ignored')];
  return {
    ...nothing(),
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
