import { withoutControls } from '../../base/index.ts';
import {
  ConversionError,
  type ConversionResponse,
  type ConversionReviewResponse,
  decodeConversionReview,
  formatFieldPath,
  isJsonObject,
  type Json,
  type JsonObject,
  showValue,
} from '../../kubernetes/index.ts';
import { kind } from '../api/names.ts';
import { conversionDataBytes } from './conversion-data.ts';
import { convert } from './convert.ts';

function reviewOf(response: ConversionResponse): ConversionReviewResponse {
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response };
}

function failed(uid: string, message: string): ConversionReviewResponse {
  return reviewOf({ uid, convertedObjects: [], result: { status: 'Failure', message: withoutControls(message) } });
}

/** Maximum number of bytes of conversion data that one response adds to the objects of its request (1 MiB). */
const maxAddedBytes = 1024 * 1024;

function nameOf({ metadata }: JsonObject, index: number): string {
  const name = isJsonObject(metadata) ? metadata.name : undefined;
  return `objects[${index}]${typeof name === 'string' ? ` ${showValue(name)}` : ''}`;
}

/**
 * Answers a ConversionReview of apiextensions.k8s.io/v1 for ExtensionConfigs: with all objects in order, or with a failure that
 * names the object and the field, and reveals nothing else. `problem` says why a body is not a review.
 */
export function reviewConversion(body: Json): { review: ConversionReviewResponse } | { problem: string } {
  const decoded = decodeConversionReview(body);
  if ('problem' in decoded) {
    const { problem, uid } = decoded;
    return uid === undefined ? { problem } : { review: failed(uid, problem) };
  }
  const { uid, desiredAPIVersion, objects } = decoded.request;
  const convertedObjects: JsonObject[] = [];
  let addedBytes = 0;
  for (const [index, object] of objects.entries()) {
    const fail = (reason: string) => ({ review: failed(uid, `${kind} ${nameOf(object, index)}: ${reason}`) });
    try {
      const converted = convert(object, desiredAPIVersion);
      addedBytes += conversionDataBytes(converted) - conversionDataBytes(object);
      convertedObjects.push(converted);
    } catch (error) {
      if (!(error instanceof ConversionError)) {
        throw error;
      }
      return fail(`${formatFieldPath(error.path)}: ${error.message}`);
    }
    if (addedBytes > maxAddedBytes) {
      return fail(
        `with it, the objects of this review need more than ${maxAddedBytes} bytes to keep what ${desiredAPIVersion} cannot represent; convert fewer at a time`,
      );
    }
  }
  return { review: reviewOf({ uid, convertedObjects, result: { status: 'Success' } }) };
}
