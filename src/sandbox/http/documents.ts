import type { IncomingMessage } from 'node:http';
import { type Request, type RequestHandler, Router } from 'express';
import type { JsonObject } from '../../kubernetes/index.ts';
import { PublishedDocument } from '../../kubernetes/openapi/index.ts';
import type { Aggregator } from '../aggregation/aggregator.ts';
import type { OpenApi } from '../openapi/open-api.ts';
import type { Registry } from '../resources/registry.ts';
import { aggregatedDiscovery, coreVersions, groupDocument, groupList, resourceList } from './discovery.ts';
import { jsonReply, noCache, type Reply, type SandboxHandler, send, textReply } from './http.ts';
import { passOn } from './proxy.ts';

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

/** Below `/apis/GROUP/VERSION`, and the OpenAPI document of a group and version. */
const remotePath = /^\/(openapi\/v3\/)?apis\/([^/]+)\/([^/]+)(?:\/|$)/;

/** Passes requests for aggregated API servers on. What was converted from OpenAPI v2 is published here. */
export function aggregate({ aggregator }: DocumentContext): SandboxHandler {
  return (request, response, next) => {
    const { url } = response.locals;
    const [, isDocument, group = '', version = ''] = remotePath.exec(url.pathname) ?? [];
    const remote = aggregator.find(group, version);
    const v3 = remote?.openapi?.v3;
    if (remote === undefined || (isDocument && (v3 === undefined || v3 instanceof PublishedDocument))) {
      next();
    } else if (remote.isAvailable) {
      passOn(remote.backend, request, response, url);
    } else {
      send(response, textReply(503, 'service unavailable\n'), []);
    }
  };
}

/** The response to `GET /openapi/v3`: the documents of this server and of aggregated ones, sorted by path. */
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

/**
 * An OpenAPI document in the requested representation. With its hash in the URL, it may be cached forever; with another
 * hash, the response is a redirect; without one, the ETag applies.
 */
function openApiReply(document: PublishedDocument, request: Request): Reply {
  const headers: Reply['headers'] = { Vary: 'Accept', 'Cache-Control': noCache };
  const protobuf = `application/com.github.proto-openapi.spec.${document.version}.v1.0+protobuf`;
  // The name of protobuf with `@` is older.
  const accepted = request.accepts('application/json', protobuf, protobuf.replace('.v1.0', '@v1.0'));
  if (accepted === false) {
    return { code: 406, headers: { ...headers, 'Content-Length': 0 } };
  }
  const type = accepted === 'application/json' ? accepted : protobuf;
  headers.ETag = `"${document.hash}"`;
  const { hash = '' } = request.query;
  if (hash !== '' && hash !== document.hash) {
    const location = { Location: `${request.path}?hash=${document.hash}`, 'Content-Type': type, 'Content-Length': 0 };
    return { code: 301, headers: { ...headers, ...location } };
  }
  if (hash === document.hash) {
    headers['Cache-Control'] = 'public, immutable';
    headers.Expires = new Date(Date.now() + 365 * 24 * 60 * 60 * 1000).toUTCString();
  }
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.some((tag) => tag === headers.ETag || tag === '*')) {
    return { code: 304, headers };
  }
  const body = document.as(accepted === 'application/json' ? 'json' : 'protobuf');
  const about = { 'Content-Type': type, 'Content-Length': body.length, 'Accept-Ranges': 'bytes' };
  return { code: 200, headers: { ...headers, ...about, 'Last-Modified': document.lastModified.toUTCString() }, body };
}

const discoveryType =
  /application\/json;(?=[^,]*g=apidiscovery\.k8s\.io)(?=[^,]*v=v2(?:;|,|$))[^,]*as=APIGroupDiscoveryList/;

/** The routes of discovery and OpenAPI documents. What is not there is a path that nothing serves. */
export function documentRoutes(context: DocumentContext): Router {
  const { registry, openapi, aggregator } = context;
  const answer =
    (
      replyTo: (request: Request<Record<string, string>>) => Reply | undefined,
    ): RequestHandler<Record<string, string>> =>
    (request, response, next) => {
      const reply = replyTo(request);
      if (reply === undefined) {
        next();
      } else {
        send(response, reply, []);
      }
    };
  const inJson = (document: JsonObject | undefined) => document && jsonReply(200, document);
  const asksForAll = ({ headers }: IncomingMessage) => discoveryType.test(headers.accept ?? '');
  const all = (core: boolean) => {
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    return jsonReply(200, aggregatedDiscovery(registry, aggregator, core), type);
  };
  const openApiDocument = (request: Request<Record<string, string>>) => {
    const { group = '', version = '' } = request.params;
    const converted = aggregator.find(group, version)?.openapi?.v3;
    const document = openapi.document(group, version) ?? converted;
    return document instanceof PublishedDocument ? openApiReply(document, request) : undefined;
  };
  return Router({ caseSensitive: true })
    .get(
      '/openapi/v2',
      answer((request) => {
        const documents = aggregator.all().map((remote) => remote.openapi?.v2?.document);
        return openApiReply(openapi.v2(documents.filter((one) => one !== undefined)), request);
      }),
    )
    .get(
      '/openapi/v3',
      answer(() => inJson(openApiList(context))),
    )
    .get(['/openapi/v3/api/:version', '/openapi/v3/apis/:group/:version'], answer(openApiDocument))
    .get(
      '/api',
      answer((request) => (asksForAll(request) ? all(true) : inJson(coreVersions(request.headers.host ?? '')))),
    )
    .get(
      '/apis',
      answer((request) => (asksForAll(request) ? all(false) : inJson(groupList(registry, aggregator)))),
    )
    .get(
      '/apis/:group',
      answer(({ params: { group = '' } }) => inJson(groupDocument(registry, aggregator, group))),
    )
    .get(
      ['/api/:version', '/apis/:group/:version'],
      answer(({ params: { group = '', version = '' } }) => inJson(resourceList(registry, group, version))),
    );
}
