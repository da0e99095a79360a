import { group, kind } from '../../extensionconfig/index.ts';
import { isJsonObject, type Json, type JsonObject, showValue } from '../../kubernetes/index.ts';
import type { ReadDocument } from '../../kubernetes/manifests/index.ts';
import type { LintError } from './result.ts';

/** Number of documents without a kind that are remembered until an object follows. */
const maxRemembered = 100;

const isText = (value: Json | undefined): boolean => typeof value === 'string' && value !== '';

/** Whether kubectl refuses a document because it has no kind. It ignores an empty one. */
const lacksKind = (value: unknown): boolean => value !== null && !(isJsonObject(value) && isText(value.kind));

const isComplete = (value: unknown): boolean => isJsonObject(value) && isText(value.kind) && isText(value.apiVersion);

function kindlessMessage(value: unknown): string {
  return isJsonObject(value)
    ? `kind is missing, so kubectl refuses this object: write its kind, or move what is not for kubectl to another file`
    : `this document is ${showValue(value)}, not an object, so kubectl refuses it: move it to another file`;
}

/** Why an object is not an ExtensionConfig, although its API group has no other kind. */
function wrongKindMessage({ apiVersion, kind: otherKind }: JsonObject): string | undefined {
  if (typeof apiVersion !== 'string' || !apiVersion.startsWith(`${group}/`) || otherKind === kind) {
    return undefined;
  }
  return isText(otherKind)
    ? `${showValue(apiVersion)} has no kind ${showValue(otherKind)}: write kind: ${kind}`
    : `kind is missing beside apiVersion ${showValue(apiVersion)}: write kind: ${kind}`;
}

/**
 * Finds documents and items of lists whose kind is missing, or is none of ExtensionConfig's group, so that no rule would
 * look at them. A document without a kind is an error only in a file with Kubernetes objects, which kubectl refuses
 * because of it: other files are not for kubectl, for example a kustomization, or the values of a Helm chart.
 */
export function createKindCheck(file: string) {
  let isForKubectl = false;
  let kindless = 0;
  const remembered: LintError[] = [];
  return {
    /** The errors that are certain with one more document, whose first content is in `line`. */
    *errorsOf({ value, objects }: ReadDocument, line: number): Generator<LintError> {
      for (const { object, path, placeOf } of objects) {
        const isKindlessItem = path.length > 0 && lacksKind(object);
        const message = wrongKindMessage(object) ?? (isKindlessItem ? kindlessMessage(object) : undefined);
        if (message !== undefined) {
          yield { file, ...placeOf(['kind']), message };
        }
      }
      const isReported = isJsonObject(value) && wrongKindMessage(value) !== undefined;
      if (lacksKind(value) && !isReported) {
        const error = { file, line, column: 1, message: kindlessMessage(value) };
        if (isForKubectl) {
          yield error;
        } else if (++kindless <= maxRemembered) {
          remembered.push(error);
        }
      } else if (!isForKubectl && isComplete(value)) {
        isForKubectl = true;
        yield* remembered;
      }
    },
    /** Documents without a kind that are not errors: their number, and the line of the first. */
    skipped(): { documents: number; line: number } | undefined {
      const line = remembered[0]?.line;
      return isForKubectl || line === undefined ? undefined : { documents: kindless, line };
    },
  };
}
