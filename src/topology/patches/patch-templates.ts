import {
  applyOperations,
  copyOf,
  fieldAt,
  groupOf,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  objectText,
  PatchError,
  perObject,
  textAt,
} from '../../kubernetes/index.ts';
import { patchProblems, type SchemaOf } from '../../kubernetes/schema/index.ts';
import { applyPatch, BadPatch, isEmptyPatch, putAt, revertIgnored } from '../../runtimehooks/index.ts';
import type { Blueprint, ClassPatch } from '../blueprint/blueprint.ts';
import { TemplateError } from '../templates/index.ts';
import { variablesFor, variablesOf } from '../variables/variables.ts';
import { NotKnown } from '../world/not-known.ts';
import { has } from '../world/releases.ts';
import { generateInline } from './inline.ts';
import { clusterBuiltin, holderText, type Item, itemsOf, type PatchInput, variable } from './items.ts';

/** Why a Cluster cannot be reconciled: the end of Cluster API's condition. */
export class ReconcileFailed extends Error {
  /** Whether an object cannot be written; otherwise templates cannot be patched. */
  readonly isWrite: boolean = false;
  /** A note for the author of the extension, or what Cluster API does not say. */
  readonly hint: { text: string; remedy: string } | undefined;

  constructor(message: string, hint?: { text: string; remedy: string }) {
    super(message);
    this.hint = hint;
  }
}

/** A call that patching needs. */
export interface PatchCall {
  hook: 'GeneratePatches' | 'ValidateTopology';
  handler: string;
  request: JsonObject;
  patch: string;
  /** The prefix in Cluster API's condition of the error of a failed call. */
  where: string;
}

/** Makes a call, and returns the response if that is a success. */
export type AskPatch = (call: PatchCall) => Promise<JsonObject>;

export interface AppliedPatch {
  patch: ClassPatch;
  before: JsonObject;
  after: JsonObject;
}

/** The templates of a Cluster with all patches, and what each patch did. */
export interface Patched {
  items: readonly Item[];
  /** In the order in which they were applied. */
  applied: ReadonlyMap<Item, readonly AppliedPatch[]>;
}

/** Characters of templates that the patches of one response may process: each processes the whole template. */
const maxPatchedLength = 64 * 1024 * 1024;

/** The parts of a patched template that later patches get. */
const partsInRequests = [['spec'], ['metadata', 'labels'], ['metadata', 'annotations']];

interface Round {
  input: PatchInput;
  items: readonly Item[];
  builtin: JsonObject;
  applied: Map<Item, AppliedPatch[]>;
}

function requestOf({ input, items, builtin }: Round, patch: ClassPatch, hasUids: boolean): JsonObject {
  const { blueprint, cluster } = input;
  return {
    ...(patch.settings !== undefined && { settings: patch.settings }),
    variables: [...variablesFor(blueprint, patch, variablesOf(cluster)), variable('builtin', builtin)],
    items: items.map((item) => {
      const variables = variablesOfItem(blueprint, patch, item);
      return {
        ...(hasUids && { uid: item.uid }),
        holderReference: item.holder,
        object: item.object,
        ...(variables.length > 0 && { variables }),
      };
    }),
  };
}

const variablesOfItem = (blueprint: Blueprint, patch: ClassPatch, { overrides, builtin }: Item): JsonObject[] => [
  ...variablesFor(blueprint, patch, overrides),
  ...(builtin === undefined ? [] : [variable('builtin', builtin)]),
];

const byName = (variables: readonly JsonObject[]): JsonObject =>
  Object.fromEntries(variables.map(({ name, value = null }): [string, Json] => [String(name), value]));

/** Keeps only the changes of a patched template that Cluster API keeps. */
function take({ input, applied }: Round, patch: ClassPatch, item: Item, patched: JsonObject): void {
  const parts = has(input.release, 'templateMetadata') ? partsInRequests : partsInRequests.slice(0, 1);
  const effective: JsonObject = { ...item.object, metadata: { ...objectAt(item.object, 'metadata') } };
  for (const path of parts) {
    // A part that the patch removed stays as it is.
    putAt(effective, path, fieldAt(patched, ...path) ?? fieldAt(effective, ...path));
  }
  const known = applied.get(item);
  const step = { patch, before: item.object, after: effective };
  if (known === undefined) {
    applied.set(item, [step]);
  } else {
    known.push(step);
  }
  item.object = effective;
}

/** The variables that inline patches get at each template: the same for all of them. */
function inlineVariables({ input: { blueprint, cluster, reads }, builtin }: Round): (item: Item) => JsonObject {
  const ofInline = (variables: readonly JsonObject[]) =>
    byName(variablesFor(blueprint, { variablesFrom: 'inline' }, variables));
  const ofCluster = ofInline(variablesOf(cluster));
  return perObject((item: Item) => {
    const variables = { ...ofCluster, ...ofInline(item.overrides), builtin: { ...builtin, ...item.builtin } };
    return reads?.watched(variables) ?? variables;
  });
}

/** Runs what may fail, with what Cluster API's condition has before such an error. */
function failing<T>(before: string, run: () => T, hint?: { text: string; remedy: string }): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof TemplateError || error instanceof PatchError || error instanceof BadPatch) {
      throw new ReconcileFailed(`${before}${error.message}`, hint);
    }
    throw error;
  }
}

function inlineOf({ items, input }: Round, patch: ClassPatch, variablesAt: (item: Item) => JsonObject) {
  const where = `failed to generate patches for patch ${JSON.stringify(patch.name)}: `;
  return failing(where, () => {
    try {
      return generateInline(patch, items, variablesAt, input.reads);
    } catch (error) {
      if (!(error instanceof NotKnown)) {
        throw error;
      }
      const object = `ClusterClass ${input.blueprint.namespace}/${input.blueprint.name}`;
      const text = `patches of ${object} are not known: patch ${JSON.stringify(patch.name)}: ${error.message}`;
      throw new NotKnown(text, { object, remedy: error.remedy });
    }
  });
}

function applyInline(round: Round, patch: ClassPatch, variablesAt: (item: Item) => JsonObject): void {
  const name = JSON.stringify(patch.name);
  const generated = inlineOf(round, patch, variablesAt);
  const where = `failed to apply patches for patch ${name}: failed to apply patch: error applying json patch (RFC6902): `;
  for (const { item, operations } of generated) {
    const patched = failing(where, () => {
      try {
        return applyOperations(item.object, operations) as JsonObject;
      } catch (error) {
        throw error instanceof PatchError && mayBeDefaulted(item) && error.message.includes('missing path')
          ? notDefaulted(item, patch, error)
          : error;
      }
    });
    take(round, patch, item, patched);
  }
}

/** Groups of templates whose defaults are known here. */
const ownGroups: ReadonlySet<string> = new Set(['bootstrap.cluster.x-k8s.io', 'controlplane.cluster.x-k8s.io']);

/** Whether a template may have fields that its provider's webhook or schema fills in: it is not one that an API server stored. */
const mayBeDefaulted = ({ template }: Item): boolean =>
  textAt(template, 'metadata', 'uid') === '' &&
  !(ownGroups.has(groupOf(template)) && textAt(template, 'kind').startsWith('Kubeadm'));

function notDefaulted({ template }: Item, patch: ClassPatch, { message }: PatchError): NotKnown {
  const text = `whether patch ${JSON.stringify(patch.name)} applies is not known, since ${objectText(template)} may have defaults of its provider: ${message}`;
  return new NotKnown(text, { remedy: 'pass the template as an API server has it (kubectl get -o yaml)' });
}

function applyAnswer(round: Round, patch: ClassPatch, response: JsonObject): void {
  const where = `failed to apply patches for patch ${JSON.stringify(patch.name)}: `;
  const byUid = new Map(round.items.map((item) => [item.uid, item]));
  let work = 0;
  for (const one of objectsAt(response, 'items')) {
    const item = byUid.get(textAt(one, 'uid'));
    if (item === undefined) {
      const uid = JSON.stringify(textAt(one, 'uid').slice(0, 100));
      throw new ReconcileFailed(`${where}unable to find corresponding request item for patch`, {
        text: `patch ${patch.name}: ${uid} is not the uid of an item of the request`,
        remedy: 'copy it from the item',
      });
    }
    if (isEmptyPatch(one)) {
      continue;
    }
    work += JSON.stringify(item.object).length;
    if (work > maxPatchedLength) {
      throw new ReconcileFailed(
        `${where}the patches of one answer change more than ${maxPatchedLength / 1024 / 1024} MiB of templates: send one patch for each template`,
      );
    }
    const patched = failing(where, () => applyPatch(item.object, one), {
      text: `the patch of ${holderText(item.holder)} cannot be applied`,
      remedy: 'compute patches from the template in the request',
    });
    take(round, patch, item, patched);
  }
}

/** The first patches of a class, and what they did to the same templates with the same variables. */
export interface KnownPatches {
  patches: readonly ClassPatch[];
  patched: Patched;
}

function takeOver({ items, applied }: Round, { patches, patched }: KnownPatches): void {
  const first = new Set(patches);
  for (const [index, item] of items.entries()) {
    const same = patched.items[index];
    const steps = (same && patched.applied.get(same))?.filter(({ patch }) => first.has(patch)) ?? [];
    const last = steps.at(-1);
    if (last !== undefined) {
      applied.set(item, steps);
      item.object = last.after;
    }
  }
}

/**
 * Patches the templates of a Cluster: with each patch of the class in order, each on the result of the previous ones,
 * then asks the patches that validate. What patches may not change is as before
 * (core/reconcilers/topology/cluster/patches/engine.go, v1.14).
 *
 * @param known of another state, if nothing that the first patches read differs from it.
 * @throws {ReconcileFailed} for a patch that fails or cannot be applied.
 * @throws {NotKnown} for one whose result is not computed here.
 */
export async function patchTemplates(input: PatchInput, ask: AskPatch, known?: KnownPatches): Promise<Patched> {
  const { blueprint, release } = input;
  const items = itemsOf(input);
  const round: Round = { input, items, builtin: clusterBuiltin(input), applied: new Map() };
  const variablesAt = inlineVariables(round);
  if (known !== undefined) {
    takeOver(round, known);
  }
  for (const patch of blueprint.patches.slice(known?.patches.length ?? 0)) {
    if (patch.definitions.length > 0) {
      applyInline(round, patch, variablesAt);
      continue;
    }
    const { name, generatePatches: handler } = patch;
    if (handler === undefined) {
      throw new ReconcileFailed(`failed to create patch generator for patch ${JSON.stringify(name)}`);
    }
    const where = `failed to generate patches for patch ${JSON.stringify(name)}: `;
    const request = requestOf(round, patch, true);
    applyAnswer(round, patch, await ask({ hook: 'GeneratePatches', handler, request, patch: name, where }));
  }
  const last = blueprint.patches.at(-1);
  for (const { name, settings, validateTopology: handler } of blueprint.patches) {
    if (handler !== undefined && last !== undefined) {
      // A pitfall in Cluster API: every validator gets the variables of the last patch of the class.
      const request = requestOf(round, { ...last, settings }, false);
      const where = `validation of patch ${JSON.stringify(name)} failed: `;
      await ask({ hook: 'ValidateTopology', handler, request, patch: name, where });
    }
  }
  const dropsMetadata = !has(release, 'templateMetadata');
  for (const item of items) {
    if (item.object !== item.template) {
      const object = copyOf(item.object);
      revertIgnored(item.template, object, { ...item, dropsMetadata });
      item.object = object;
    }
  }
  return { items, applied: round.applied };
}

/** What an API server would refuse or drop of patched templates by their CustomResourceDefinitions. */
export function templateProblems({ items, applied }: Patched, schemaOf: SchemaOf): { text: string; remedy: string }[] {
  return items.flatMap((item) => {
    const { holder, template, object } = item;
    const patches = [...new Set(applied.get(item)?.map(({ patch }) => patch.name))].join(', ');
    return patchProblems(template, object, schemaOf).map((problem) => ({
      text: `${textAt(template, 'kind')} ${textAt(template, 'metadata', 'name')} of ${holderText(holder)} is not valid as patched: ${problem}`,
      remedy: `correct patch ${patches}`,
    }));
  });
}
