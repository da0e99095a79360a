import { isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import { type Cause, type ClusterPlan, type GroupPlan, healthyStatus } from '../../topology/index.ts';

export interface Loss {
  cluster: string;
  group: string;
  kind: string;
  verb: 'replaces' | 'deletes' | 'remediates';
  machines: number;
  /** The fields that replace them; otherwise why they go. */
  causes: Cause[];
  why?: string;
  /** Only once the pause of the Cluster ends, which is a write of its own. */
  isLater: boolean;
  /** Whether that needs a permission, where replacements do. */
  isGuarded: boolean;
}

export const keyOf = ({ cluster, kind, group, verb, machines, causes, isLater }: Loss): string =>
  JSON.stringify([
    ...[cluster, kind, group, verb, machines, isLater],
    causes
      .map(({ object, field, before, after }) => JSON.stringify([object.split(' ')[0], field, before, after]))
      .toSorted(),
  ]);

function conditionsIn(value: Json | undefined): JsonObject[] {
  if (Array.isArray(value)) {
    return value.flatMap(conditionsIn);
  }
  if (!isJsonObject(value)) {
    return [];
  }
  return typeof value.type === 'string' ? [value] : Object.values(value).flatMap(conditionsIn);
}

/** `Ready=True`: what a health check calls unhealthy, and is not. */
function miscalled(causes: readonly Cause[]): string {
  const conditions = causes.flatMap(({ after }) => conditionsIn(after));
  const wrong = conditions.filter(({ type, status }) => healthyStatus.get(type) === status);
  return wrong.map(({ type, status }) => `${type}=${status}`).join(', ');
}

type GroupLoss = Pick<Loss, 'verb' | 'machines' | 'causes' | 'why' | 'isGuarded'>;

/** Now, or as soon as what holds the group back ends by itself. */
function lossesIn(plan: GroupPlan, isTouched: boolean): GroupLoss[] {
  const { causes, held, atLeast = 0, healthCheck = [] } = plan;
  const { verdict, machines } = held ?? plan;
  const { before, after } = machines;
  const losses: GroupLoss[] = [];
  const replaced = verdict === 'unknown' ? atLeast : machines.replaced;
  if (replaced > 0) {
    losses.push({ verb: 'replaces', machines: replaced, causes, isGuarded: true });
  } else if (verdict === 'deleted') {
    losses.push({ verb: 'deletes', machines: before, causes: [], why: 'removed', isGuarded: true });
  } else if (verdict === 'scaled' && after < before && (after === 0 || isTouched)) {
    losses.push({ verb: 'deletes', machines: before - after, causes: [], why: `scaled to ${after}`, isGuarded: false });
  }
  const wrong = miscalled(healthCheck);
  if (wrong !== '') {
    const why = `its health check calls ${wrong} unhealthy`;
    losses.push({ verb: 'remediates', machines: before, causes: [], why, isGuarded: false });
  }
  return losses;
}

/** @param paused the Clusters that are paused after the write. @param isTouched whether it changes more than numbers. */
export const lossesOf = (plans: readonly ClusterPlan[], paused: ReadonlySet<string>, isTouched: boolean): Loss[] =>
  plans.flatMap(({ cluster, groups }) =>
    groups.flatMap((plan) =>
      lossesIn(plan, isTouched)
        .filter(({ machines }) => machines > 0)
        .map((loss) => ({
          ...loss,
          cluster,
          group: plan.group,
          kind: plan.kind,
          isLater: paused.has(cluster) && plan.verdict !== 'deleted',
        })),
    ),
  );
