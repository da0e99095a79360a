import { fieldAt, type JsonObject, nameOf, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import { newestKnownRelease } from '../../runtimehooks/index.ts';
import { controlPlaneOf, machineTemplatePath, withKubeadmDefaults } from '../control-planes/index.ts';
import { type Difference, differencesOf, leadsTo, plainCause } from '../world/differences.ts';
import type { ExistingMachine, GroupChange, GroupObjects, PlanOptions } from '../world/groups.ts';
import type { Problem } from '../world/plan-document.ts';
import { listText, machinesText } from './explanations.ts';
import { isStaying } from './group-plan.ts';

const clonedFromName = 'cluster.x-k8s.io/cloned-from-name';

/** Fields that controllers of bootstrap providers fill in, different for each Machine. */
const ofEachMachine = [
  ['joinConfiguration', 'discovery'],
  ['joinConfiguration', 'controlPlane'],
];

/** The fields of a template of which an object that was made of it has another value. */
const unlike = (object: JsonObject | undefined, template: JsonObject | undefined): Difference[] =>
  object === undefined || template === undefined
    ? []
    : differencesOf(
        objectAt(withKubeadmDefaults(object), 'spec'),
        objectAt(withKubeadmDefaults(template), 'spec', 'template', 'spec'),
      ).filter(({ path, after }) => after !== undefined && !ofEachMachine.some((own) => leadsTo(path, own)));

/** Why a Machine that is unlike a template of its group stays: the template changed, or nothing says which it was made of. */
type Why = 'changed' | 'unmarked';

/** Whether a control plane takes a Machine for up to date because nothing says what template it was made of. */
function isUnmarked(existing: ExistingMachine, { object }: GroupObjects, options: PlanOptions): boolean {
  const of = controlPlaneOf(object);
  const { machine, bootstrapConfig = {}, infrastructureMachine = {} } = existing;
  const release = options.clusterApiVersion ?? newestKnownRelease;
  return (
    of !== undefined &&
    of.hasMachines !== false &&
    !of
      .reasons({ machine, bootstrapConfig, infrastructureMachine }, object, release)
      .some(({ path }) => leadsTo(path, machineTemplatePath(object)))
  );
}

const texts: Readonly<Record<Why, { text: string; remedy: string }>> = {
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
  const why: Why | undefined = from === nameOf(template) ? 'changed' : isSilent ? 'unmarked' : undefined;
  const object = objectText(template);
  const causes = differences.map((one) =>
    plainCause(object, { ...one, path: ['spec', 'template', 'spec', ...one.path] }),
  );
  return why === undefined ? [] : [{ name: nameOf(existing.machine), why, template, causes }];
}

/**
 * Machines that differ from what their group would make now, and that are not replaced for it: with the fields, and the reason.
 * A template that changed under its name is the most frequent one.
 */
export function unlikeMachines({ kind, after, machines = [] }: GroupChange, options: PlanOptions): Problem[] {
  // A MachinePool does not refer to templates.
  if (after === undefined || kind === 'MachinePool') {
    return [];
  }
  const all = (['infrastructure', 'bootstrap'] as const).flatMap((part) =>
    machines.filter(isStaying).flatMap((existing) => unlikeMachine(existing, part, after, options)),
  );
  return [...Map.groupBy(all, ({ why, template }) => `${why} ${objectText(template)}`).values()].flatMap((some) => {
    const [{ why, template }] = some as [(typeof some)[number]];
    const { text, remedy } = texts[why];
    const causes = new Map(some.flatMap((one) => one.causes).map((cause) => [JSON.stringify(cause), cause]));
    const subject = `${machinesText(some.length)} (${listText(some.map(({ name }) => name))})`;
    const verb = some.length === 1 ? 'is' : 'are';
    return [
      { text: `${subject} ${verb} unlike ${objectText(template)}, ${text}`, remedy, causes: [...causes.values()] },
    ];
  });
}

/** Says what of Machines their control plane does not compare. */
export function uncompared({ after, machines = [] }: GroupChange): Problem[] {
  const of = after && controlPlaneOf(after.object);
  if (of === undefined || of.hasMachines === false) {
    return [];
  }
  const all = machines.filter(isStaying).flatMap(({ machine }) => {
    const why = of.uncompared?.(machine);
    return why === undefined ? [] : [{ name: nameOf(machine), why }];
  });
  return [...Map.groupBy(all, ({ why }) => why)].map(([why, some]) => ({
    text: `${machinesText(some.length)} (${listText(some.map(({ name }) => name))}): ${why}`,
  }));
}

/** Says that the controller of a group has not seen the newest version of its object. */
export function unseen({ after }: GroupChange): Problem[] {
  const seen = Number(fieldAt(after?.object, 'status', 'observedGeneration'));
  const newest = Number(fieldAt(after?.object, 'metadata', 'generation'));
  return after !== undefined && seen < newest
    ? [
        {
          text: `the controller of ${objectText(after.object)} has not seen its newest change yet (observedGeneration ${seen} of ${newest})`,
          remedy: 'check whether it runs, and read its log',
        },
      ]
    : [];
}
