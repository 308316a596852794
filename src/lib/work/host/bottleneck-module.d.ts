/** The library without its Redis connectors has no types of its own. */
declare module 'bottleneck/light.js' {
  export { default } from 'bottleneck';
}
