import { fieldAt, type JsonObject, nameOf, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import { newestKnownRelease } from '../../runtimehooks/index.ts';
import { kindWithMachines, machineTemplatePath, withKubeadmDefaults } from '../control-planes/index.ts';
import { versionOf } from '../desired/group-changes.ts';
import { type Difference, differencesOf, leadsTo, plainCause } from '../world/differences.ts';
import type { ExistingMachine, GroupChange, GroupObjects, PlanOptions } from '../world/groups.ts';
import type { GroupPlan, Problem } from '../world/plan-document.ts';
import { distinct, listText, machinesText } from './explanations.ts';
import { isStaying } from './group-plan.ts';
import { replicasOf } from './machines.ts';

const clonedFromName = 'cluster.x-k8s.io/cloned-from-name';

/** Fields that controllers of bootstrap providers fill in, different for each Machine. */
const ofEachMachine = [
  ['joinConfiguration', 'discovery'],
  ['joinConfiguration', 'controlPlane'],
];

const namedText = (machines: readonly { name: string }[]): string =>
  `${machinesText(machines.length)} (${listText(machines.map(({ name }) => name))})`;

/** The fields of a template of which an object that was made of it has another value. */
const unlike = (object: JsonObject | undefined, template: JsonObject | undefined): Difference[] =>
  object === undefined || template === undefined
    ? []
    : differencesOf(
        objectAt(withKubeadmDefaults(object), 'spec'),
        objectAt(withKubeadmDefaults(template), 'spec', 'template', 'spec'),
      ).filter(({ path, after }) => after !== undefined && !ofEachMachine.some((own) => leadsTo(path, own)));

/** Whether a control plane takes a Machine for up to date because nothing says what template it was made of. */
function isUnmarked(existing: ExistingMachine, { object }: GroupObjects, options: PlanOptions): boolean {
  const { machine, bootstrapConfig = {}, infrastructureMachine = {} } = existing;
  const release = options.clusterApiVersion ?? newestKnownRelease;
  const made = { machine, bootstrapConfig, infrastructureMachine };
  const reasons = kindWithMachines(object)?.reasons(made, object, release);
  return reasons?.every(({ path }) => !leadsTo(path, machineTemplatePath(object))) === true;
}

/** Why a Machine that is unlike a template of its group stays: the template changed, or nothing says which it was made of. */
const staying = {
  changed: {
    text: 'which changed under its name: that replaces nothing',
    remedy: 'refer to a template of another name, or set spec.rollout.after',
  },
  unmarked: {
    text: `which does not count without the annotation ${clonedFromName}`,
    remedy: 'delete it, or set spec.rollout.after',
  },
};

function unlikeMachine(
  existing: ExistingMachine,
  part: 'infrastructure' | 'bootstrap',
  after: GroupObjects,
  options: PlanOptions,
) {
  const template = after[part];
  const made = part === 'bootstrap' ? existing.bootstrapConfig : existing.infrastructureMachine;
  const differences = unlike(made, template);
  if (template === undefined || differences.length === 0) {
    return [];
  }
  const from = textAt(made, 'metadata', 'annotations', clonedFromName);
  const isSilent = from === '' && isUnmarked(existing, after, options);
  const why = from === nameOf(template) ? 'changed' : isSilent ? 'unmarked' : undefined;
  const object = objectText(template);
  const causes = differences.map((one) =>
    plainCause(object, { ...one, path: ['spec', 'template', 'spec', ...one.path] }),
  );
  return why === undefined ? [] : [{ name: nameOf(existing.machine), why: staying[why], object, causes }];
}

/** Machines that differ from what their group would make now, and are not replaced for it. */
function unlikeMachines({ kind, after, machines = [] }: GroupChange, options: PlanOptions): Problem[] {
  // A MachinePool does not refer to templates.
  if (after === undefined || kind === 'MachinePool') {
    return [];
  }
  const all = (['infrastructure', 'bootstrap'] as const).flatMap((part) =>
    machines.filter(isStaying).flatMap((existing) => unlikeMachine(existing, part, after, options)),
  );
  const groups = Map.groupBy(all, ({ why, object }) => `unlike ${object}, ${why.text}`);
  return [...groups].flatMap(([text, some]) => {
    const { remedy } = (some[0] as (typeof all)[number]).why;
    return [
      {
        text: `${namedText(some)} ${some.length === 1 ? 'is' : 'are'} ${text}`,
        remedy,
        causes: distinct(some.flatMap((one) => one.causes)),
      },
    ];
  });
}

function uncompared({ after, machines = [] }: GroupChange): Problem[] {
  const of = after && kindWithMachines(after.object);
  const all = machines.filter(isStaying).flatMap(({ machine }) => {
    const why = of?.uncompared?.(machine);
    return why === undefined ? [] : [{ name: nameOf(machine), why }];
  });
  return [...Map.groupBy(all, ({ why }) => why)].map(([why, some]) => ({
    text: `${namedText(some)}: ${why}`,
  }));
}

function unseen({ after }: GroupChange): Problem[] {
  const seen = Number(fieldAt(after?.object, 'status', 'observedGeneration'));
  const newest = Number(fieldAt(after?.object, 'metadata', 'generation'));
  if (after === undefined || !(seen < newest)) {
    return [];
  }
  const text = `the controller of ${objectText(after.object)} has not seen its newest change yet (observedGeneration ${seen} of ${newest})`;
  return [{ text, remedy: 'check whether it runs, and read its log' }];
}

/** A number of a status: under `v1beta2`, an object in v1beta1 has the newer fields. */
function numberIn(object: JsonObject, ...names: readonly string[]): number | undefined {
  const values = names.flatMap((name) => [fieldAt(object, 'status', 'v1beta2', name), fieldAt(object, 'status', name)]);
  return values.find((value) => typeof value === 'number');
}

function presentState({ before }: GroupChange): Pick<GroupPlan, 'now'> {
  const object = before?.object;
  if (object === undefined || fieldAt(object, 'status') === undefined) {
    return {};
  }
  const version = textAt(object, 'status', 'version') || versionOf(object);
  const ready = numberIn(object, 'readyReplicas');
  const upToDate = numberIn(object, 'upToDateReplicas', 'updatedReplicas');
  return {
    now: {
      wanted: replicasOf(object),
      ...(version !== '' && { version }),
      ...(ready !== undefined && { ready }),
      ...(upToDate !== undefined && { upToDate }),
    },
  };
}

/** The plan of a group with how far it is now, and what its controllers do not do about Machines that are not as it wants them. */
export function explained(plan: GroupPlan, change: GroupChange, options: PlanOptions): GroupPlan {
  const more = [...unlikeMachines(change, options), ...uncompared(change), ...unseen(change)];
  return {
    ...plan,
    ...presentState(change),
    ...(more.length > 0 && { problems: [...(plan.problems ?? []), ...more] }),
  };
}
