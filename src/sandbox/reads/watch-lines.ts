import type { JsonObject, Status } from '../../kubernetes/index.ts';
import { apiVersionOf, metadataOf } from '../resources/index.ts';
import { type ReadContext, type ReadRequest, shown } from './reads.ts';

/** JSON of objects for many watchers, created once. */
const texts = new WeakMap<JsonObject, string>();

function textOf(object: JsonObject): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

/** Makes the lines of one watch. */
export interface WatchLines {
  /** An object in the view that the watcher asked for. */
  event(type: string, object: JsonObject): string;
  bookmark(version: number, annotations?: JsonObject): string;
  error(status: Status): string;
}

/** The lines of a watch: in a table, the first has the columns. */
export function createWatchLines(context: ReadContext, { resource, view }: ReadRequest): WatchLines {
  let columns = true;
  return {
    event(type, object) {
      const { resourceVersion = '' } = metadataOf(object);
      const [view0] = shown(context, resource, [object], { resourceVersion }, view, columns);
      columns = false;
      const text = view.as === 'object' ? textOf(object) : JSON.stringify(view0);
      return `{"type":"${type}","object":${text}}\n`;
    },
    bookmark(version, annotations) {
      const metadata = { ...(annotations === undefined ? {} : { annotations }), resourceVersion: String(version) };
      const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
      return `${JSON.stringify({ type: 'BOOKMARK', object })}\n`;
    },
    error: (status) => `${JSON.stringify({ type: 'ERROR', object: status })}\n`,
  };
}
