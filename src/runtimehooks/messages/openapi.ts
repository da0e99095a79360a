import type { HookDefinition } from '../catalog/definition.ts';
import { phaseIn } from '../catalog/lifecycle.ts';
import type { Release } from '../catalog/release.ts';
import { componentPrefix } from '../catalog/schema.ts';
import { componentsOf } from './components.ts';

/** The path of a hook below the prefix of a server, in OpenAPI notation. */
function pathOf({ group, version, name, singleton }: HookDefinition): string {
  return `/${group}/${version}/${name.toLowerCase()}${singleton ? '' : '/{name}'}`;
}

const capitalized = (word: string) => `${word.slice(0, 1).toUpperCase()}${word.slice(1).toLowerCase()}`;

/**
 * `hooksRuntimeClusterV1alpha1Discovery`: the group without `.x-k8s.io`, the version and the hook, each capitalized.
 */
function operationIdOf({ group, version, name }: HookDefinition): string {
  const words = [...group.replace(/\.x-k8s\.io$/, '').split(/[.-]/), version, name];
  const id = words.map(capitalized).join('');
  return `${id.slice(0, 1).toLowerCase()}${id.slice(1)}`;
}

const content = (component: string) => ({
  'application/json': { schema: { $ref: `${componentPrefix}${component}` } },
});

/**
 * The OpenAPI document of hooks, with paths, parameters, operation ids and schemas as in the document that Cluster API
 * publishes.
 *
 * @param release of Cluster API: hooks that are deprecated in it are marked.
 */
export function openApiDocument(
  hooks: readonly HookDefinition[],
  { version, release }: { version: string; release: Release },
) {
  const name = {
    name: 'name',
    in: 'path',
    required: true,
    description: 'Name of the handler, without the name of the ExtensionConfig.',
    schema: { type: 'string' },
  };
  const operationOf = (hook: HookDefinition) => ({
    tags: hook.tags,
    summary: hook.name,
    description: `${hook.summary} ${hook.purpose}`,
    operationId: operationIdOf(hook),
    ...(phaseIn(hook, release) === 'deprecated' && { deprecated: true }),
    ...(!hook.singleton && { parameters: [name] }),
    requestBody: { content: content(hook.request.component) },
    responses: { 200: { description: 'The answer of the extension.', content: content(hook.response.component) } },
  });
  const paths = hooks.map((hook) => [pathOf(hook), { post: operationOf(hook) }] as const);
  return {
    openapi: '3.0.0',
    info: {
      title: 'Cluster API - Runtime SDK',
      description:
        'The Runtime Hooks that Cluster API calls, and what an extension server answers. Requests come with POST, over HTTPS, without a Content-Type.',
      license: { name: 'Apache 2.0', url: 'http://www.apache.org/licenses/LICENSE-2.0.html' },
      version,
    },
    paths: Object.fromEntries(paths.sort(([a], [b]) => (a < b ? -1 : 1))),
    components: { schemas: Object.fromEntries(componentsOf(hooks)) },
  };
}
