import { repeated } from '../../base/index.ts';
import {
  asGoWrites,
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  qualifiedNameProblems,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { found, invalid, notSupported, required } from '../../kubernetes/schema/index.ts';
import { parsingProblem } from '../templates/index.ts';
import { integerProblem } from './parts.ts';

// The refusals of Cluster API's webhook for the patches of a class (core/webhooks/admission/patch_validation.go, v1.14).

/** The builtin variables that a patch may copy, below `builtin.`, and what may be copied of them. */
const builtinFields: Readonly<Record<string, string>> = {
  cluster:
    'name namespace uid metadata.labels metadata.annotations topology topology.classRef.name topology.classRef.namespace topology.class topology.classNamespace topology.version network network.serviceDomain network.services network.pods',
  controlPlane: 'name replicas version metadata.labels metadata.annotations machineTemplate.infrastructureRef.name',
  machineDeployment:
    'class name replicas topologyName version metadata.labels metadata.annotations bootstrap.configRef.name infrastructureRef.name',
  machinePool:
    'class name replicas topologyName version metadata.labels metadata.annotations bootstrap.configRef.name infrastructureRef.name',
};
const builtins: ReadonlySet<string> = new Set(
  Object.entries(builtinFields).flatMap(([part, fields]) => [
    `builtin.${part}`,
    ...fields.split(' ').map((field) => `builtin.${part}.${field}`),
  ]),
);

/** The fields of Go's types, in the order in which they are written. */
const order =
  'name description enabledIf definitions external selector apiVersion kind matchResources controlPlane infrastructureCluster machineDeploymentClass machinePoolClass jsonPatches op path value valueFrom variable template generatePatchesExtension validateTopologyExtension discoverVariablesExtension settings'.split(
    ' ',
  );

const isEmpty = (value: Json | undefined): boolean => value === '' || (Array.isArray(value) && value.length === 0);

/** A part of a patch as Go writes it: fields in its order, without empty ones. `value` is any JSON, with sorted keys. */
function inOrder(value: Json | undefined, isRaw = false): Json {
  if (Array.isArray(value)) {
    return value.map((item) => inOrder(item, isRaw));
  }
  if (!isJsonObject(value)) {
    return value ?? null;
  }
  const names = Object.keys(value).sort((a, b) =>
    isRaw ? (a < b ? -1 : 1) : order.indexOf(a) - order.indexOf(b) || (a < b ? -1 : 1),
  );
  return Object.fromEntries(
    names
      .filter((name) => isRaw || name === 'value' || !isEmpty(value[name]))
      .map((name) => [name, inOrder(value[name], isRaw || name === 'value' || name === 'settings')]),
  );
}

const printed = (value: JsonObject): string => asGoWrites(JSON.stringify(inOrder(value), null, 2));

function templateCauses(template: string, name: string, field: string): StatusCause[] {
  const problem = template === '' ? undefined : parsingProblem(template, name);
  return problem === undefined ? [] : [invalid(field, template, `template can not be parsed: ${problem}`)];
}

/** A class as its patches are checked against it: looked up once for all of them. */
interface PatchedClass {
  spec: JsonObject;
  variables: ReadonlySet<string>;
  /** The classes of workers that have a template of a kind, by `list kind apiVersion`. */
  workers: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Maximum number of classes of workers of a kind, as the CRD has it. With more, it is not judged whether a name matches any. */
const maxWorkers = 100;

/** Whether one of the classes matches a name: all of it, or what is before or after a `*`. */
function matches(classes: ReadonlySet<string>, name: string): boolean {
  const [start = '', end] = name.split('*');
  return end === undefined
    ? classes.has(name)
    : classes.size > maxWorkers || [...classes].some((one) => one.startsWith(start) && one.endsWith(end));
}

const templateKey = ({ apiVersion = '', kind = '' }: JsonObject): string => `${kind} ${apiVersion}`;

const workerSelectors = [
  ['machineDeploymentClass', 'machineDeployments', 'MachineDeployment'],
  ['machinePoolClass', 'machinePools', 'MachinePool'],
] as const;

function patchedClass(spec: JsonObject): PatchedClass {
  const workers = new Map<string, Set<string>>();
  for (const [, list] of workerSelectors) {
    for (const worker of objectsAt(spec, 'workers', list)) {
      const keys = ['bootstrap', 'infrastructure'].map((part) => templateKey(objectAt(worker, part, 'templateRef')));
      for (const key of new Set(keys)) {
        const known = workers.get(`${list} ${key}`) ?? new Set();
        known.add(textAt(worker, 'class'));
        workers.set(`${list} ${key}`, known);
      }
    }
  }
  const variables = new Set(objectsAt(spec, 'variables').map((variable) => textAt(variable, 'name')));
  return { spec, variables, workers };
}

function selectorNameProblem(name: string): string | undefined {
  const stars = name.split('*').length - 1;
  if (stars === 0) {
    return undefined;
  }
  if (stars > 1) {
    return 'selector can at most contain a single "*" rune';
  }
  if (!name.startsWith('*') && !name.endsWith('*')) {
    return '"*" rune can only appear at the beginning, or ending of the selector';
  }
  return qualifiedNameProblems(name.replace('*', 'a')).length === 0
    ? undefined
    : 'selector does not comply with the Kubernetes naming standards';
}

function* workerSelectorCauses(
  selector: JsonObject,
  { workers }: PatchedClass,
  [field, list, kind]: (typeof workerSelectors)[number],
  path: string,
): Generator<StatusCause> {
  const names = workers.get(`${list} ${templateKey(selector)}`);
  for (const [index, name] of itemsAt(selector, 'matchResources', field, 'names').entries()) {
    if (typeof name !== 'string') {
      continue;
    }
    const at = `${path}.matchResources.${field}.names[${index}]`;
    const problem = selectorNameProblem(name);
    if (problem !== undefined) {
      yield invalid(at, name, problem);
      return;
    }
    if (names === undefined || !matches(names, name)) {
      const why = `selector is enabled but matches neither the bootstrap ref nor the infrastructure ref of a ${kind} class`;
      yield invalid(at, name, why);
    }
  }
}

function* selectorCauses(selector: JsonObject, patched: PatchedClass, path: string): Generator<StatusCause> {
  const { spec } = patched;
  const matched = objectAt(selector, 'matchResources');
  const isFor = (...place: string[]) => templateKey(objectAt(spec, ...place, 'templateRef')) === templateKey(selector);
  const names = workerSelectors.flatMap(([field]) => itemsAt(matched, field, 'names'));
  if (matched.infrastructureCluster !== true && matched.controlPlane !== true && names.length === 0) {
    yield invalid(path, printed(selector), 'no selector enabled');
    return;
  }
  const isForControlPlane = isFor('controlPlane') || isFor('controlPlane', 'machineInfrastructure');
  const ofCluster = 'does not match the infrastructure ref';
  const ofControlPlane = 'matches neither the controlPlane ref nor the controlPlane machineInfrastructure ref';
  const cause = (field: string, why: string) =>
    matched[field] === true && invalid(`${path}.matchResources.${field}`, true, `selector is enabled but ${why}`);
  yield* found(
    !isFor('infrastructure') && cause('infrastructureCluster', ofCluster),
    !isForControlPlane && cause('controlPlane', ofControlPlane),
  );
  for (const kind of workerSelectors) {
    yield* workerSelectorCauses(selector, patched, kind, path);
  }
}

function* indexCauses({ op, path = '' }: JsonObject, field: string): Generator<StatusCause> {
  for (const part of String(path).split('/')) {
    if (integerProblem(part) !== undefined) {
      continue;
    }
    const isWithin = op === 'add' && Number(part) !== 0;
    const isOther = op === 'replace' || op === 'remove';
    yield* found(
      isWithin && invalid(field, path, 'arrays can only be accessed using "0" (prepend) or "-" (append)'),
      isOther && invalid(field, path, `elements in arrays can not be accessed in a ${op} operation`),
    );
  }
}

const variableIn = (path: string): string => path.split(/[.[]/).find((part) => part !== '') ?? '';

function* variableCauses(variable: string, { variables }: PatchedClass, field: string): Generator<StatusCause> {
  const isBuiltin = variable.startsWith('builtin.');
  const isMissing = !isBuiltin && !variables.has(variableIn(variable));
  yield* found(
    isBuiltin && !builtins.has(variable) && invalid(field, variable, 'not a defined builtin variable'),
    isMissing && invalid(field, variable, `variable with name ${variable} cannot be found`),
  );
}

function* valueCauses(patch: JsonObject, patched: PatchedClass, path: string): Generator<StatusCause> {
  const { op, value, valueFrom } = patch;
  if (op !== 'add' && op !== 'replace') {
    return;
  }
  // A value of null is one, and a reference of null is none.
  const hasValue = value !== undefined;
  if (!isJsonObject(valueFrom)) {
    yield* found(!hasValue && invalid(path, printed(patch), 'jsonPatch must define one of value or valueFrom'));
    return;
  }
  const [template, variable] = [textAt(valueFrom, 'template'), textAt(valueFrom, 'variable')];
  const at = `${path}.valueFrom`;
  const [hasTemplate, hasVariable] = [template !== '', variable !== ''];
  const [none, both] = ['must set either template or variable', 'can not set both template and variable'];
  yield* found(
    hasValue && invalid(path, printed(patch), 'jsonPatch can not define both value and valueFrom'),
    !hasTemplate && !hasVariable && invalid(at, printed(valueFrom), `valueFrom ${none}`),
    hasTemplate && hasVariable && invalid(at, printed(valueFrom), `valueFrom ${both}`),
  );
  yield* templateCauses(template, 'valueFrom.template', `${at}.template`);
  if (hasVariable) {
    yield* variableCauses(variable, patched, `${at}.variable`);
  }
}

const operations = ['add', 'remove', 'replace'];

function* jsonPatchCauses(patch: JsonObject, patched: PatchedClass, path: string): Generator<StatusCause> {
  const isInSpec = textAt(patch, 'path').startsWith('/spec');
  yield* found(
    !operations.includes(textAt(patch, 'op')) && notSupported(`${path}.op`, printed(patch), operations),
    !isInSpec && invalid(`${path}.path`, printed(patch), 'jsonPatch path must start with "/spec"'),
  );
  yield* indexCauses(patch, `${path}.path`);
  yield* valueCauses(patch, patched, path);
}

function* externalCauses(external: JsonObject, path: string): Generator<StatusCause> {
  if (textAt(external, 'validateTopologyExtension') === '' && textAt(external, 'generatePatchesExtension') === '') {
    const why = 'one of validateTopologyExtension and generatePatchesExtension must be defined';
    yield invalid(`${path}.external`, inOrder(external), why);
  }
}

function* causesOfPatch(patch: JsonObject, patched: PatchedClass, path: string): Generator<StatusCause> {
  const { definitions, external } = patch;
  yield* templateCauses(textAt(patch, 'enabledIf'), 'enabledIf', `${path}.enabledIf`);
  const [isInline, isExternal] = [Array.isArray(definitions), isJsonObject(external)];
  yield* found(
    !isInline && !isExternal && required(path, 'one of definitions or external must be defined'),
    isInline && isExternal && invalid(path, inOrder(patch), 'only one of definitions or external can be defined'),
  );
  for (const [index, definition] of objectsAt(definitions).entries()) {
    const at = `${path}.definitions[${index}]`;
    for (const [place, jsonPatch] of objectsAt(definition, 'jsonPatches').entries()) {
      yield* jsonPatchCauses(jsonPatch, patched, `${at}.jsonPatches[${place}]`);
    }
    yield* selectorCauses(objectAt(definition, 'selector'), patched, `${at}.selector`);
  }
  if (isJsonObject(external)) {
    yield* externalCauses(external, path);
  }
}

/** The problems of the patches in the spec of a class. That extensions need a feature gate is not judged. */
export function* patchCauses(spec: JsonObject): Generator<StatusCause> {
  const patched = patchedClass(spec);
  const patches = objectsAt(spec, 'patches');
  const namesakes = new Set(repeated(patches, (patch) => textAt(patch, 'name')));
  for (const [index, patch] of patches.entries()) {
    const path = `spec.patches[${index}]`;
    const name = textAt(patch, 'name');
    const twice = `patch names must be unique. Patch with name ${JSON.stringify(name)} is defined more than once`;
    yield* found(
      name === '' && required(`${path}.name`, 'patch name must be defined'),
      name === 'inline' && required(`${path}.name`, '"inline" can not be used as the name of a patch'),
      namesakes.has(patch) && invalid(`${path}.name`, name, twice),
    );
    yield* causesOfPatch(patch, patched, path);
  }
}
