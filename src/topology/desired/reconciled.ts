import {
  copyOf,
  groupOf,
  isSame,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  objectText,
  textAt,
} from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';
import { controlPlaneOf, shownMetadata, withKubeadmDefaults } from '../control-planes/index.ts';
import { nonEmpty } from '../patches/items.ts';
import { ReconcileFailed } from '../patches/patch-templates.ts';
import { applyRefusal, causeLine, type Refusal, stored, unchangeable } from '../refusals/index.ts';
import { applied } from '../world/applied.ts';
import type { GroupPart } from '../world/groups.ts';
import { NotKnown } from '../world/not-known.ts';
import { picked } from '../world/objects.ts';

/** Why the topology controller cannot write an object, in its words, and the field that is at fault first. */
export class WriteFailed extends ReconcileFailed {
  override readonly isWrite = true;
  readonly field: FieldAtFault | undefined;

  constructor(
    message: string,
    { field, hidden }: { field?: FieldAtFault | undefined; hidden?: string | undefined } = {},
  ) {
    super(message, hidden === undefined ? undefined : { text: hidden, remedy: 'correct the template, or the patch' });
    this.field = field;
  }
}

interface FieldAtFault {
  /** Of the group; undefined for the infrastructure of the Cluster. */
  part: GroupPart | undefined;
  path: readonly (string | number)[];
}

function intentOf({ metadata, spec = {} }: JsonObject): JsonObject {
  const { labels = {}, annotations = {} } = objectAt(metadata);
  return { metadata: { labels, annotations }, spec };
}

/** Fields of a control plane that others set, and that stay if nothing is known of what was applied before. */
function keptOf(current: JsonObject): JsonObject {
  const spec = objectAt(current, 'spec');
  return { ...picked(spec, ['replicas']), ...nonEmpty('rollout', picked(objectAt(spec.rollout), ['after'])) };
}

/** If it is not known what was applied `before`, all fields of the spec are the controller's own. */
function afterApply(current: JsonObject, before: JsonObject | undefined, intent: JsonObject): JsonObject {
  if (current.apiVersion !== intent.apiVersion) {
    const [given, wanted] = [textAt(current, 'apiVersion'), textAt(intent, 'apiVersion')];
    throw new NotKnown(`${objectText(current)} is given in ${given}, and the class has ${wanted}`, {
      remedy: `give it in ${wanted}, as an API server converts it`,
    });
  }
  const wanted = intentOf(intent);
  const merged =
    before === undefined
      ? {
          ...applied(intentOf(current), {}, { metadata: objectAt(wanted, 'metadata') }),
          spec: applied(keptOf(current), {}, objectAt(wanted, 'spec')),
        }
      : applied(intentOf(current), intentOf(before), wanted);
  const { labels: _labels, annotations: _annotations, ...metadata } = objectAt(current, 'metadata');
  const own = Object.entries(objectAt(merged.metadata)).filter(([, value]) => Object.keys(objectAt(value)).length > 0);
  return {
    ...current,
    metadata: { ...metadata, ...Object.fromEntries(own) },
    spec: copyOf(objectAt(merged.spec)),
  };
}

/** Why two objects cannot be the same one in two states, in Cluster API's words; undefined if they can. */
export function incompatibility(current: JsonObject, desired: JsonObject): string | undefined {
  const [group, kind] = [groupOf(current), textAt(current, 'kind')];
  const what = `of ${kind}.${group}/${nameOf(current)}`;
  const causes = [
    ...unchangeable('metadata.apiVersion', `apiVersion.group ${what}`, group, groupOf(desired), 'Cluster'),
    ...unchangeable('metadata.kind', `apiVersion.kind ${what}`, kind, desired.kind, 'Cluster'),
  ];
  return causes.length === 0 ? undefined : aggregate(causes.map(causeLine));
}

export interface Write {
  part: GroupPart | undefined;
  current: JsonObject;
  before: JsonObject | undefined;
  intent: JsonObject;
  schemaOf: SchemaOf;
  /** Whether the API server checks it in this version. */
  isChecked: boolean;
}

const notWritten = (object: JsonObject, problem: string): string =>
  `failed to create patch helper for ${objectText(object)}: server side apply dry-run failed for modified object: ${problem}`;

/** The field that a refusal names first: `spec.files[0].content`, and `.spec.files: ` where structured-merge-diff does. */
function fieldAtFault({ message, causes }: Refusal, part: GroupPart | undefined): FieldAtFault | undefined {
  const named = causes.map(({ field }) => field).find((field) => field !== undefined && field !== '<nil>');
  const field = named ?? /: \.(spec[\w.[\]-]*): /.exec(message)?.[1];
  const steps = field?.match(/[^.[\]]+/g)?.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  return steps && { part, path: steps };
}

function checkUpdate({ current, intent, part, schemaOf, isChecked }: Write, result: JsonObject): void {
  const refusal =
    !isChecked || isSame(result.spec, current.spec) ? undefined : applyRefusal(intent, result, current, schemaOf);
  if (refusal !== undefined) {
    throw new WriteFailed(notWritten(current, refusal.message), { field: fieldAtFault(refusal, part) });
  }
}

/** @throws {WriteFailed} with the causes alone, without the object's name (createErrorWithoutObjectName, v1.14). */
export function checkCreation(
  object: JsonObject,
  schemaOf: SchemaOf,
  { part, where = '' }: { part?: GroupPart | undefined; where?: string } = {},
): void {
  const refusal = applyRefusal(object, object, undefined, schemaOf);
  if (refusal === undefined) {
    return;
  }
  const { causes, message } = refusal;
  const field = fieldAtFault(refusal, part);
  const what = `${where}failed to create ${textAt(object, 'kind')}.${groupOf(object)}`;
  if (causes.length === 0) {
    const hidden = `${objectText(object)} cannot be created, and Cluster API's condition does not say why: ${message}`;
    throw new WriteFailed(what, { field, hidden });
  }
  const reasons = causes.map(({ reason, field: place, message: text }) => `${reason}: ${place}: ${text}`);
  throw new WriteFailed(`${what}: ${reasons.join(' ')}`, { field });
}

/** An object after the controller has written it. @throws {WriteFailed} when it cannot. */
export function written(write: Write): JsonObject {
  const { current, before, intent, schemaOf } = write;
  const problem = incompatibility(current, intent);
  if (problem !== undefined) {
    throw new WriteFailed(problem);
  }
  const result = stored(afterApply(current, before, intent), schemaOf, current);
  checkUpdate(write, result);
  const refusal = controlPlaneOf(current)?.refusal?.(current, result, false);
  if (refusal !== undefined) {
    throw new WriteFailed(notWritten(current, refusal));
  }
  return result;
}

/** As the dry runs return it that decide whether a template is rotated. */
const inDryRun = (object: JsonObject, schemaOf: SchemaOf): JsonObject => withKubeadmDefaults(stored(object, schemaOf));

/**
 * The Cluster's own copy of a template after a reconcile: as it was, with other metadata, or rotated: another object with
 * another name (reconcileReferencedTemplate in core/reconcilers/topology/cluster, v1.14).
 */
export function rotatedOrPatched(write: Write, newName: string): JsonObject {
  const { current, intent, schemaOf } = write;
  if (textAt(intent, 'kind') === textAt(current, 'kind') && groupOf(intent) === groupOf(current)) {
    const merged = afterApply(current, write.before, intent);
    checkUpdate(write, merged);
    const specIn = (object: JsonObject) => objectAt(inDryRun(object, schemaOf), 'spec');
    if (isSame(current.spec ?? {}, merged.spec ?? {}) || isSame(specIn(current), specIn(merged))) {
      return stored(merged, schemaOf);
    }
  }
  const metadata = { name: newName, namespace: namespaceOf(intent), ...shownMetadata(intent) };
  const created = { ...intent, metadata };
  if (write.isChecked) {
    checkCreation(created, schemaOf, { part: write.part });
  }
  return stored(created, schemaOf);
}
