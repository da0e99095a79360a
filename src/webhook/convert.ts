import type { ConversionReviewResponse, Json } from '../kubernetes/index.ts';

/** Answers a ConversionReview; `problem` says why a body is none, in a sentence for whoever sent it. */
export type Convert = (body: Json) => { review: ConversionReviewResponse } | { problem: string };
