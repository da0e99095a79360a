import { type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { type SchemaOf, schemasOf } from '../../kubernetes/schema/index.ts';
import type { Release } from '../../runtimehooks/index.ts';
import { type Blueprint, definitionsIn, readBlueprint } from '../blueprint/blueprint.ts';
import { withoutBookkeeping } from '../patches/items.ts';
import { define } from '../variables/variables.ts';
import type { CallHook, HookAnswer, HookCall } from '../world/groups.ts';
import { kubeadmSchemaOf } from '../world/kubeadm-schemas.ts';
import { coreGroup, namespaceOf, type Objects } from '../world/objects.ts';
import type { Problem } from '../world/plan.ts';
import { inV1beta2 } from '../world/v1beta1.ts';
import { referred } from './existing.ts';

/** A class with its templates and variables, or why it is not known. */
export type KnownClass =
  | { is: 'known'; blueprint: Blueprint }
  | { is: 'missing' | 'unknown' | 'stopped'; problem: Problem };

/** What a Cluster refers to as its class. */
export function classOf(cluster: JsonObject): { namespace: string; name: string } {
  const reference = objectAt(cluster, 'spec', 'topology', 'classRef');
  return { namespace: textAt(reference, 'namespace') || namespaceOf(cluster), name: textAt(reference, 'name') };
}

/** One state of the objects: what a plan reads of it is read once. */
export class PlannedState {
  readonly name: 'before' | 'after';
  readonly objects: Objects;
  readonly release: Release;
  /** Of the CustomResourceDefinitions among the objects. */
  readonly crdSchemaOf: SchemaOf;
  /** Of those, or of Cluster API's own kubeadm kinds. */
  readonly schemaOf: SchemaOf;
  readonly #call: CallHook | undefined;
  readonly #classes = new Map<string, Promise<KnownClass>>();

  constructor(name: 'before' | 'after', objects: Objects, release: Release, call: CallHook | undefined) {
    this.name = name;
    this.objects = objects;
    this.release = release;
    this.crdSchemaOf = schemasOf(objects.ofKind('apiextensions.k8s.io', 'CustomResourceDefinition'));
    this.schemaOf = (object) => this.crdSchemaOf(object) ?? kubeadmSchemaOf(object);
    this.#call = call;
  }

  /** Calls an extension of this state. */
  async call(request: Omit<HookCall, 'state'>): Promise<Exclude<HookAnswer, { is: 'none' }>> {
    const { handler } = request;
    const remedy = 'pass the ExtensionConfig that registers it';
    if (this.#call === undefined) {
      return { is: 'unknown', why: `${handler} is not called here`, remedy };
    }
    const answer = await this.#call({ ...request, state: this.name });
    return answer.is === 'none' ? { is: 'unknown', why: `no handler ${handler} is registered`, remedy } : answer;
  }

  /** The class of a Cluster, with the variables that its extensions define. */
  classOf(cluster: JsonObject): Promise<KnownClass> {
    const { namespace, name } = classOf(cluster);
    const key = `${namespace}/${name}`;
    let known = this.#classes.get(key);
    if (known === undefined) {
      known = this.#readClass(namespace, name);
      this.#classes.set(key, known);
    }
    return known;
  }

  async #readClass(namespace: string, name: string): Promise<KnownClass> {
    const object = `ClusterClass ${namespace}/${name}`;
    const clusterClass = this.objects.get({ group: coreGroup, kind: 'ClusterClass', namespace, name });
    if (clusterClass === undefined) {
      const text = `ClusterClass ${namespace}/${name} is not among the objects`;
      return { is: 'missing', problem: { text, remedy: 'add it, or correct classRef of the Cluster' } };
    }
    let otherVersion: Problem | undefined;
    const blueprint = readBlueprint(clusterClass, (reference, of) => {
      const given = referred(this.objects, reference, of);
      const apiVersion = textAt(reference, 'apiVersion');
      const template = given && given.apiVersion !== apiVersion ? inV1beta2(given) : given;
      if (template !== undefined && template.apiVersion !== apiVersion) {
        const text = `${object} refers to ${textAt(reference, 'kind')} ${of}/${textAt(reference, 'name')} in ${apiVersion}, which is given in ${textAt(template, 'apiVersion')}`;
        otherVersion ??= { text, remedy: `give it in ${apiVersion}, as an API server converts it`, object };
      }
      return template && withoutBookkeeping(template);
    });
    if (otherVersion !== undefined) {
      return { is: 'unknown', problem: otherVersion };
    }
    const [missing, ...others] = blueprint.missing;
    if (missing !== undefined) {
      const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
      const text = `${object} refers to ${missing}${more}, which is not among the objects`;
      return { is: 'unknown', problem: { text, remedy: 'add the template, or correct the reference', object } };
    }
    return (await this.#discover(blueprint, clusterClass)) ?? { is: 'known', blueprint };
  }

  /** Asks the extensions of a class for their variables. Returns why they are not known. */
  async #discover(blueprint: Blueprint, clusterClass: JsonObject): Promise<KnownClass | undefined> {
    const { namespace, name } = blueprint;
    for (const { name: patch, discoverVariables: handler, settings } of blueprint.patches) {
      if (handler === undefined) {
        continue;
      }
      const request = settings === undefined ? {} : { settings };
      const object = { namespace, name };
      const answer = await this.call({ hook: 'DiscoverVariables', handler, request, object });
      if (answer.is === 'answered') {
        define(blueprint, definitionsIn(answer.response.variables, patch));
      } else if (answer.is === 'failed') {
        const text = `VariablesReady of ClusterClass ${namespace}/${name} is False, and no Cluster of it reconciles: VariableDiscovery failed: failed to call DiscoverVariables for patch ${patch}: ${answer.error}`;
        return { is: 'stopped', problem: { text } };
      } else {
        const found = objectsAt(clusterClass, 'status', 'variables').flatMap((variable) =>
          objectsAt(variable, 'definitions')
            .filter(({ from }) => from === patch)
            .map((definition) => ({ ...definition, name: textAt(variable, 'name') })),
        );
        if (found.length === 0) {
          const text = `the variables that patch ${patch} of ClusterClass ${namespace}/${name} defines are not known: ${answer.why}`;
          return { is: 'unknown', problem: { text, remedy: answer.remedy } };
        }
        define(blueprint, definitionsIn(found, patch));
      }
    }
    return undefined;
  }
}
