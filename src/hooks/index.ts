export * from './catalog.ts';
export * from './release.ts';
