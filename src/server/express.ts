import express, { type Express } from 'express';

/**
 * An Express application without optional headers and features. It serves the health port (probes, metrics, errors),
 * and on the webhook port everything that is not a review. Reviews bypass it, because routing a request takes Express
 * longer than deciding it takes.
 */
export function plainExpress(): Express {
  return express().disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
}
