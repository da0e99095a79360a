import { readFileSync } from 'node:fs';
import { withoutMarkup } from '../../base/index.ts';
import type { HookDefinition } from '../catalog/definition.ts';
import { phaseIn, type Release } from '../catalog/lifecycle.ts';
import { componentOf, componentPrefix, components, type MessageSchema } from '../catalog/schema.ts';

function referencesIn(schema: MessageSchema): string[] {
  const { $ref, properties = {}, additionalProperties, items, allOf = [], oneOf = [] } = schema;
  const parts = [...Object.values(properties), ...allOf, ...oneOf, additionalProperties, items];
  return [
    ...($ref === undefined ? [] : [componentOf($ref)]),
    ...parts.flatMap((part) => (part === undefined ? [] : referencesIn(part))),
  ];
}

/** Exactly the components that the messages of hooks need. @throws {Error} when a schema refers to an unknown one. */
export function componentsOf(hooks: readonly HookDefinition[]): ReadonlyMap<string, MessageSchema> {
  const messages = new Map(
    hooks.flatMap(({ request, response }) => [request, response]).map(({ component, schema }) => [component, schema]),
  );
  const used = new Map<string, MessageSchema>();
  const pending = [...messages.keys()];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (used.has(name)) {
      continue;
    }
    const schema = messages.get(name) ?? components.get(name);
    if (schema === undefined) {
      throw new Error(`no schema has the name ${name}`);
    }
    used.set(name, schema);
    pending.push(...referencesIn(schema));
  }
  return new Map([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function pathOf({ group, version, name, singleton }: HookDefinition): string {
  return `/${group}/${version}/${name.toLowerCase()}${singleton ? '' : '/{name}'}`;
}

const capitalized = (word: string) => `${word.slice(0, 1).toUpperCase()}${word.slice(1).toLowerCase()}`;

/** `hooksRuntimeClusterV1alpha1Discovery`: the group without `.x-k8s.io`, the version and the hook. */
function operationIdOf({ group, version, name }: HookDefinition): string {
  const words = [...group.replace(/\.x-k8s\.io$/, '').split(/[.-]/), version, name];
  const id = words.map(capitalized).join('');
  return `${id.slice(0, 1).toLowerCase()}${id.slice(1)}`;
}

const content = (component: string) => ({
  'application/json': { schema: { $ref: `${componentPrefix}${component}` } },
});

/** The OpenAPI document of hooks, as Cluster API publishes it; hooks that are deprecated in the release are marked. */
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

/** The viewer, OpenAPI Explorer (Apache 2.0): a single file without dependencies, which the packages contain. */
const viewerFile = new URL(
  '../../../node_modules/openapi-explorer/dist/browser/openapi-explorer.min.js',
  import.meta.url,
);

/** A page that shows a document: one HTML file that works without a network, and loads nothing, whatever the document contains. */
export function openApiPage(document: ReturnType<typeof openApiDocument>): string {
  const title = withoutMarkup(`${document.info.title} ${document.info.version}`);
  // A script must not contain anything that looks like its end tag or an HTML comment.
  const json = JSON.stringify(document).replaceAll('<', '\\u003c');
  const script = readFileSync(viewerFile, 'utf8').replaceAll(/<(\/script|!--)/gi, '\\x3c$1');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>body { margin: 0; font-family: system-ui, sans-serif; }</style>
<script type="module">
${script}
</script>
</head>
<body>
<openapi-explorer hide-console hide-server-selection hide-authentication></openapi-explorer>
<script id="document" type="application/json">${json}</script>
<script type="module">
await customElements.whenDefined('openapi-explorer');
await document.querySelector('openapi-explorer').loadSpec(JSON.parse(document.getElementById('document').textContent));
</script>
</body>
</html>
`;
}
