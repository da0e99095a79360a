import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { describe, requestIn } from './admission-review.ts';

interface ConversionRequest {
  uid: string;
  desiredAPIVersion: string;
  objects: JsonObject[];
}

/** ConversionResponse of apiextensions.k8s.io/v1: the converted objects in the order of the request, or a failure. */
export interface ConversionResponse {
  uid: string;
  convertedObjects: JsonObject[];
  result: { status: 'Success' } | { status: 'Failure'; message: string };
}

/** ConversionReview of apiextensions.k8s.io/v1 that carries a response. */
export interface ConversionReviewResponse {
  apiVersion: 'apiextensions.k8s.io/v1';
  kind: 'ConversionReview';
  response: ConversionResponse;
}

/** A decoded ConversionReview: the request, or what is wrong with it, with the uid if it could be read. */
type DecodedConversionReview = { request: ConversionRequest } | { problem: string; uid: string | undefined };

/** Decodes a ConversionReview (apiextensions.k8s.io/v1), without its response. `problem` is a sentence for its sender. */
export function decodeConversionReview(body: Json): DecodedConversionReview {
  const parsed = requestIn(body, 'apiextensions.k8s.io/v1', 'ConversionReview');
  if ('problem' in parsed) {
    return parsed;
  }
  const { request, uid } = parsed;
  const { desiredAPIVersion, objects } = request;
  if (typeof desiredAPIVersion !== 'string') {
    return { problem: `request.desiredAPIVersion must be a string, got ${describe(desiredAPIVersion)}`, uid };
  }
  if (!Array.isArray(objects)) {
    return { problem: `request.objects must be an array, got ${describe(objects)}`, uid };
  }
  const wrong = objects.findIndex((object) => !isJsonObject(object));
  if (wrong !== -1) {
    return { problem: `request.objects[${wrong}] must be an object, got ${describe(objects[wrong])}`, uid };
  }
  return { request: { uid, desiredAPIVersion, objects: objects as JsonObject[] } };
}
