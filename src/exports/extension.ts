import './node-version.ts';

export * from '../extension/index.ts';
