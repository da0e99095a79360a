import { withoutControls } from '../../../base/index.ts';
import type { JsonObject } from '../../../kubernetes/index.ts';
import { clusterApiHooks, formatHook, type HookDefinition } from '../../../runtimehooks/index.ts';
import { messageProblem, problemText } from '../../../runtimehooks/messages/index.ts';
import { readLimitedFile } from '../../framework/limited-file.ts';
import { UsageError } from '../../framework/program.ts';
import { objectsOf } from '../manifest-objects.ts';

/** Largest file with requests, in MiB: the limit of Cluster API's server. */
const maxMebibytes = 20;

function hookOf({ apiVersion, kind }: JsonObject, where: string): HookDefinition {
  const hook = clusterApiHooks.find(
    ({ group, version, request }) =>
      request.kind === kind && (apiVersion ?? `${group}/${version}`) === `${group}/${version}`,
  );
  if (hook === undefined || hook.singleton) {
    const named = [apiVersion, kind].filter((part) => typeof part === 'string').join(' ');
    const shown = kind === undefined ? 'an object without a kind' : withoutControls(named.slice(0, 200));
    throw new UsageError(`${where}: ${shown} is not a hook request such as GeneratePatchesRequest`);
  }
  return hook;
}

/** Requests of the user, by `formatHook`. @throws {UsageError} for an invalid one. */
export function readRequests(files: readonly string[]): Map<string, JsonObject> {
  const requests = new Map<string, JsonObject>();
  for (const file of files) {
    const text = readLimitedFile('--request', file, maxMebibytes);
    for (const { object, where } of objectsOf(text, `--request: ${withoutControls(file)}`)) {
      const place = where();
      const hook = hookOf(object, place);
      const typed = { ...object, apiVersion: `${hook.group}/${hook.version}` };
      const problem = messageProblem(hook, 'request', typed);
      if (problem !== undefined) {
        throw new UsageError(`${place}: ${withoutControls(problemText(problem))}`);
      }
      if (requests.has(formatHook(hook))) {
        throw new UsageError(`${place}: this is a second request for ${hook.name}`);
      }
      requests.set(formatHook(hook), object);
    }
  }
  return requests;
}
