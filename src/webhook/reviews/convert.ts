import type { ConversionReviewResponse, Json } from '../../kubernetes/index.ts';

/**
 * Converts the objects of a ConversionReview; `problem` says why a body is not a ConversionReview, in a sentence for
 * the sender.
 */
export type Convert = (body: Json) => { review: ConversionReviewResponse } | { problem: string };
