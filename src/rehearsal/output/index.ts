export { jsonLine } from './json.ts';
export { htmlPage } from './page.ts';
export { createTimeline } from './text.ts';
