import { type JsonObject, namespacedName, objectsAt, objectText, textAt } from '../../kubernetes/index.ts';
import { type SchemaOf, schemasOf } from '../../kubernetes/schema/index.ts';
import { coreGroup, type Release } from '../../runtimehooks/index.ts';
import { type Blueprint, readBlueprint } from '../blueprint/blueprint.ts';
import { inV1beta2 } from '../manifests/v1beta1.ts';
import { withoutBookkeeping } from '../patches/items.ts';
import { clusterApiSchemaOf } from '../refusals/index.ts';
import { discoverVariables, type VariablesAnswer } from '../variables/variables.ts';
import type { CallHook, HookAnswer, HookCall } from '../world/groups.ts';
import { asEnd, NotKnown, Stopped } from '../world/not-known.ts';
import { classOf } from '../world/topologies.ts';
import type { World } from '../world/world.ts';
import { referred } from './existing.ts';

const definitionsIn = (world: World) => world.ofKind('apiextensions.k8s.io', 'CustomResourceDefinition');

/** A class with its templates. @throws {NotKnown} if one is given in another version than the class refers to. */
export function readClass(world: World, clusterClass: JsonObject): Blueprint {
  const object = objectText(clusterClass);
  const templateAt = (reference: JsonObject, namespace: string) => {
    const given = referred(world, reference, namespace);
    const apiVersion = textAt(reference, 'apiVersion');
    const template = given && given.apiVersion !== apiVersion ? inV1beta2(given) : given;
    if (template !== undefined && template.apiVersion !== apiVersion) {
      throw new NotKnown(
        `${object} refers to ${textAt(reference, 'kind')} ${namespace}/${textAt(reference, 'name')} in ${apiVersion}, which is given in ${textAt(template, 'apiVersion')}`,
        { remedy: `give it in ${apiVersion}, as an API server converts it`, object },
      );
    }
    return template && withoutBookkeeping(template);
  };
  return readBlueprint(clusterClass, templateAt, definitionsIn(world));
}

/** The references of a ClusterClass to templates. */
export function templateReferences(clusterClass: JsonObject): JsonObject[] {
  const references: JsonObject[] = [];
  readBlueprint(inV1beta2(clusterClass), (reference) => {
    references.push(reference);
    return undefined;
  });
  return references;
}

/** Those of definitions among the objects, and of Cluster API's own kinds if there are none, or only some without fields. */
export function schemasIn(world: World, release: Release): SchemaOf {
  const given = schemasOf(definitionsIn(world));
  const known = clusterApiSchemaOf(release);
  return (object) => {
    const schema = given(object);
    return schema?.properties?.spec?.properties === undefined ? (known(object) ?? schema) : schema;
  };
}

/** One state of the objects: what a plan reads of it is read once. */
export class PlannedState {
  readonly name: 'before' | 'after';
  readonly world: World;
  readonly release: Release;
  readonly schemaOf: SchemaOf;
  readonly #call: CallHook | undefined;
  readonly #classes = new Map<string, Promise<Blueprint>>();

  constructor(name: 'before' | 'after', world: World, release: Release, call: CallHook | undefined) {
    this.name = name;
    this.world = world;
    this.release = release;
    this.schemaOf = schemasIn(world, release);
    this.#call = call;
  }

  /** `what` is not known without the answer. @throws {NotKnown} if the extension does not answer, or has no such handler. */
  async call(request: Omit<HookCall, 'state'>, what: string): Promise<Exclude<HookAnswer, { is: 'none' }>> {
    const { handler } = request;
    const remedy = 'pass the ExtensionConfig that registers it';
    if (this.#call === undefined) {
      throw new NotKnown(`${what}: ${handler} is not called here`, { remedy });
    }
    const answer = await this.#call({ ...request, state: this.name }).catch((error: unknown) => {
      throw error instanceof NotKnown ? new NotKnown(`${what}: ${error.message}`, error) : error;
    });
    if (answer.is === 'none') {
      throw new NotKnown(`${what}: no handler ${handler} is registered`, { remedy });
    }
    return answer;
  }

  /** @throws {NotKnown} if it, a template or an answer is missing; {Stopped} if an extension refuses to define variables. */
  classOf(cluster: JsonObject): Promise<Blueprint> {
    const { namespace, name } = classOf(cluster);
    const key = `${namespace}/${name}`;
    let known = this.#classes.get(key);
    if (known === undefined) {
      const clusterClass = this.world.get({ group: coreGroup, kind: 'ClusterClass', namespace, name });
      if (clusterClass === undefined) {
        const text = name === '' ? 'the Cluster names no class' : `ClusterClass ${key} is not among the objects`;
        const remedy = name === '' ? 'set its classRef' : 'add it, or correct classRef of the Cluster';
        return Promise.reject(new NotKnown(text, { remedy, object: `Cluster ${namespacedName(cluster)}` }));
      }
      known = this.#readClass(clusterClass);
      this.#classes.set(key, known);
    }
    return known;
  }

  async #readClass(clusterClass: JsonObject): Promise<Blueprint> {
    const object = objectText(clusterClass);
    const blueprint = readClass(this.world, clusterClass);
    const [missing, ...others] = blueprint.missing;
    if (missing !== undefined) {
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      const text = `${object} refers to ${missing}${more}, which is not among the objects`;
      throw new NotKnown(text, { remedy: 'add the template, or correct the reference', object });
    }
    const { namespace, name } = blueprint;
    const outcome = await discoverVariables(blueprint, (patch, handler, request) => {
      const call = { hook: 'DiscoverVariables', handler, request, object: { namespace, name } } as const;
      return this.#definitions(call, patch, clusterClass);
    });
    if (outcome.is !== 'discovered') {
      throw new Stopped(outcome.why);
    }
    return blueprint;
  }

  /** The variables that a patch defines; if its extension cannot be asked, those that it defined last. */
  async #definitions(call: Omit<HookCall, 'state'>, patch: string, clusterClass: JsonObject): Promise<VariablesAnswer> {
    const found = objectsAt(clusterClass, 'status', 'variables').flatMap((variable) =>
      objectsAt(variable, 'definitions')
        .filter(({ from }) => from === patch)
        .map((definition) => ({ ...definition, name: textAt(variable, 'name') })),
    );
    const what = `the variables that patch ${patch} of ${objectText(clusterClass)} defines are not known`;
    const answer = await this.call(call, what).catch((error: unknown) => {
      if (error instanceof NotKnown && found.length > 0) {
        return undefined;
      }
      throw error;
    });
    return answer?.is === 'failed' ? answer : { is: 'answered', variables: answer?.response.variables ?? found };
  }
}

/** The value, if it can be known; undefined if not, or if Cluster API stops there, which is reported elsewhere. */
export const ifKnown = <T>(value: Promise<T>): Promise<T | undefined> =>
  value.catch((error: unknown) => {
    asEnd(error);
    return undefined;
  });
