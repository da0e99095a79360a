import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { describe } from './admission-review.ts';

/** ConversionRequest of apiextensions.k8s.io/v1. */
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

/** Longest uid that is echoed. The API server's have 36 characters; a longer one was not sent by it. */
const maxUidLength = 256;

/**
 * Decodes a ConversionReview of apiextensions.k8s.io/v1; a `response` in it is ignored. Never throws: what is wrong is
 * returned as `problem`, a sentence for the sender of the review, with `uid` if the response can still be a review.
 */
export function decodeConversionReview(body: Json): DecodedConversionReview {
  if (!isJsonObject(body)) {
    return { problem: 'the body must be a ConversionReview object', uid: undefined };
  }
  if (body.kind !== 'ConversionReview' || body.apiVersion !== 'apiextensions.k8s.io/v1') {
    return {
      problem: `expected apiVersion "apiextensions.k8s.io/v1" and kind "ConversionReview", got apiVersion ${describe(body.apiVersion)} and kind ${describe(body.kind)}`,
      uid: undefined,
    };
  }
  const { request } = body;
  if (!isJsonObject(request)) {
    return { problem: 'request must be an object', uid: undefined };
  }
  const { uid, desiredAPIVersion, objects } = request;
  if (typeof uid !== 'string' || uid === '' || uid.length > maxUidLength) {
    return { problem: `request.uid must be a string of 1 to ${maxUidLength} characters`, uid: undefined };
  }
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
