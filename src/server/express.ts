import express, { type Express } from 'express';

/**
 * An express application without optional headers and features. It carries the health port (probes, metrics, errors), and
 * on the webhook port everything that is not a review. Reviews go past it to their handlers: a router's work on a request
 * takes longer than a decision.
 */
export function plainExpress(): Express {
  return express().disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
}
