import { Router } from 'express';
import type { JsonObject } from '../../kubernetes/index.ts';
import { PublishedDocument } from '../../kubernetes/openapi/index.ts';
import type { Aggregator } from '../aggregation/aggregator.ts';
import type { OpenApi } from '../openapi/open-api.ts';
import type { Registry } from '../resources/registry.ts';
import { apiVersionOf, type Resource } from '../resources/resource.ts';
import { noCache, type SandboxHandler, type SandboxResponse, send, sendJson } from './http.ts';

export interface DocumentContext {
  registry: Registry;
  aggregator: Aggregator;
  openapi: OpenApi;
}

export const version = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.0-extensionconfig-webhook-sandbox',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch}`,
};

/** In the order of the real API server. */
const verbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const statusVerbs = ['get', 'patch', 'update'];

function aggregatedResource(resource: Resource) {
  const { group, version, kind, plural, singular, namespaced, shortNames, categories, hasStatus } = resource;
  const responseKind = { group, version, kind };
  return {
    resource: plural,
    responseKind,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 ? { shortNames: [...shortNames] } : {}),
    ...(categories.length > 0 ? { categories: [...categories] } : {}),
    ...(hasStatus ? { subresources: [{ subresource: 'status', responseKind, verbs: statusVerbs }] } : {}),
  };
}

/** `GET /api/v1` or `/apis/GROUP/VERSION`: an APIResourceList, or undefined if it is not served. */
function resourceList(registry: Registry, group: string, version: string): JsonObject | undefined {
  const resources = registry.of(group, version).flatMap((resource) => {
    const { namespaced, kind } = resource;
    const { resource: name, singularResource: singularName, ...aggregated } = aggregatedResource(resource);
    const { responseKind: _kind, scope: _scope, subresources = [], ...lists } = aggregated;
    return [
      { name, singularName, namespaced, kind, ...lists },
      ...subresources.map(({ subresource, verbs }) => ({
        ...{ name: `${name}/${subresource}`, singularName: '', namespaced, kind, verbs },
      })),
    ];
  });
  const groupVersion = apiVersionOf({ group, version });
  return resources.length === 0 ? undefined : { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources };
}

/** How Kubernetes prefers a version: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name. */
function rankOf(version: string): number[] {
  const [, major, stage, minor = 0] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return major === undefined ? [-1] : [['alpha', 'beta', undefined].indexOf(stage), Number(major), Number(minor)];
}

function compareVersions(a: string, b: string): number {
  const ranks = rankOf(b);
  const difference = rankOf(a)
    .map((rank, index) => (ranks[index] ?? 0) - rank)
    .find((one) => one !== 0);
  return difference ?? (a < b ? -1 : 1);
}

/** Everything that is served, here and by aggregated servers: each group with its versions, the preferred one first. */
function servedGroups({ registry, aggregator }: DocumentContext) {
  const own = registry.versions().map(({ group, version }) => {
    const resources: readonly JsonObject[] = registry.of(group, version).map(aggregatedResource);
    // The priority that a kube-apiserver gives to definitions.
    return { group, version, priority: 100, isStale: false, resources };
  });
  const others = aggregator.all().map(({ apiService: { spec }, isAvailable, resources }) => {
    const { group = '', version, versionPriority: priority } = spec;
    return { group, version, priority, isStale: !isAvailable, resources };
  });
  const all = [...own, ...others].sort((a, b) => b.priority - a.priority || compareVersions(a.version, b.version));
  return [...Map.groupBy(all, ({ group }) => group)].sort(([a], [b]) => (a < b ? -1 : 1));
}

function groupsOf(context: DocumentContext): JsonObject[] {
  const groups = servedGroups(context).filter(([group]) => group !== '');
  return groups.map(([name, served]) => {
    const versions = served.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions, preferredVersion: versions[0] as JsonObject };
  });
}

/** `GET /api` or `/apis` as an APIGroupDiscoveryList of apidiscovery.k8s.io/v2: everything in one document. */
function aggregatedDiscovery(context: DocumentContext, core: boolean): JsonObject {
  const groups = servedGroups(context).filter(([group]) => (group === '') === core);
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(([group, versions]) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map(({ version, isStale, resources }) => ({
        version,
        freshness: isStale ? 'Stale' : 'Current',
        resources: [...resources],
      })),
    })),
  };
}

function openApiList({ openapi, aggregator }: DocumentContext): JsonObject {
  const others = aggregator.all().flatMap(({ apiService: { spec }, openapi }) => {
    const { group = '', version } = spec;
    return openapi?.v3 === undefined ? [] : [{ group, version, hash: openapi.v3.hash }];
  });
  const entries = [...openapi.list(), ...others].map(({ group, version, hash }): [string, JsonObject] => {
    const path = group === '' ? `api/${version}` : `apis/${group}/${version}`;
    return [path, { serverRelativeURL: `/openapi/v3/${path}${hash === undefined ? '' : `?hash=${hash}`}` }];
  });
  return { paths: Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

type Handler = SandboxHandler<Record<string, string>>;

/** Sends an OpenAPI document, which may be cached forever with its hash in the URL; another hash is a redirect. */
function sendOpenApi(document: PublishedDocument, request: Parameters<Handler>[0], response: SandboxResponse): void {
  const { pathname, searchParams } = response.locals.url;
  const headers: Record<string, string | number> = { Vary: 'Accept', 'Cache-Control': noCache };
  const protobuf = `application/com.github.proto-openapi.spec.${document.version}.v1.0+protobuf`;
  // The name of protobuf with `@` is older.
  const accepted = request.accepts('application/json', protobuf, protobuf.replace('.v1.0', '@v1.0'));
  if (accepted === false) {
    send(response, 406, { ...headers, 'Content-Length': 0 });
    return;
  }
  const isJson = accepted === 'application/json';
  const type = isJson ? accepted : protobuf;
  headers.ETag = `"${document.hash}"`;
  const hash = searchParams.get('hash') ?? '';
  if (hash !== '' && hash !== document.hash) {
    const location = { Location: `${pathname}?hash=${document.hash}`, 'Content-Type': type, 'Content-Length': 0 };
    send(response, 301, { ...headers, ...location });
    return;
  }
  if (hash === document.hash) {
    headers['Cache-Control'] = 'public, immutable';
    headers.Expires = new Date(Date.now() + 365 * 24 * 60 * 60 * 1000).toUTCString();
  }
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.some((tag) => tag === headers.ETag || tag === '*')) {
    send(response, 304, headers);
    return;
  }
  const body = document.as(isJson ? 'json' : 'protobuf');
  const about = { 'Content-Type': type, 'Content-Length': body.length, 'Accept-Ranges': 'bytes' };
  send(response, 200, { ...headers, ...about, 'Last-Modified': document.lastModified.toUTCString() }, body);
}

const discoveryType =
  /application\/json;(?=[^,]*g=apidiscovery\.k8s\.io)(?=[^,]*v=v2(?:;|,|$))[^,]*as=APIGroupDiscoveryList/;

/** The routes of discovery and OpenAPI documents. What is not there is a path that nothing serves. */
export function documentRoutes(context: DocumentContext): Router {
  const { registry, openapi, aggregator } = context;
  const inJson =
    (documentFor: (params: { group?: string; version?: string }) => JsonObject | undefined): Handler =>
    ({ params }, response, next) => {
      const document = documentFor(params);
      document === undefined ? next() : sendJson(response, 200, document);
    };
  const aggregated =
    (isCore: boolean): Handler =>
    ({ headers }, response, next) => {
      if (discoveryType.test(headers.accept ?? '')) {
        const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
        sendJson(response, 200, aggregatedDiscovery(context, isCore), type);
      } else {
        next();
      }
    };
  const sendDocument: Handler = (request, response, next) => {
    const { group = '', version = '' } = request.params;
    const document = openapi.document(group, version) ?? aggregator.find(group, version)?.openapi?.v3;
    document instanceof PublishedDocument ? sendOpenApi(document, request, response) : next();
  };
  const sendV2: Handler = (request, response) => {
    const documents = aggregator.all().map((remote) => remote.openapi?.v2?.document);
    sendOpenApi(openapi.v2(documents.filter((one) => one !== undefined)), request, response);
  };
  const list = inJson(() => openApiList(context));
  const groups = inJson(() => ({ kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(context) }));
  const group = inJson(({ group }) => {
    const entry = groupsOf(context).find(({ name }) => name === group);
    return entry && { kind: 'APIGroup', apiVersion: 'v1', ...entry };
  });
  const resources = inJson(({ group = '', version = '' }) => resourceList(registry, group, version));
  return Router({ caseSensitive: true })
    .get('/openapi/v2', sendV2)
    .get('/openapi/v3', list)
    .get(['/openapi/v3/api/:version', '/openapi/v3/apis/:group/:version'], sendDocument)
    .get('/api', aggregated(true), ({ headers }, response) => {
      const servers = [{ clientCIDR: '0.0.0.0/0', serverAddress: headers.host ?? '' }];
      sendJson(response, 200, { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: servers });
    })
    .get('/apis', aggregated(false), groups)
    .get('/apis/:group', group)
    .get(['/api/:version', '/apis/:group/:version'], resources);
}
