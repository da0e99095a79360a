import express, { type Express } from 'express';

/** An express application without the headers and features that nobody asked for. */
export function plainExpress(): Express {
  return express().disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
}
