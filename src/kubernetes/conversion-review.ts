import type { JsonObject } from './json.ts';

/** ConversionRequest of apiextensions.k8s.io/v1. */
export interface ConversionRequest {
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
