export { jsonLine } from './json.ts';
export { htmlPage } from './page.ts';
export { createTimeline, type Timeline } from './text.ts';
