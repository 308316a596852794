/** The library without its connectors to other stores, which has no types of its own. */
declare module 'bottleneck/light.js' {
  export { default } from 'bottleneck';
}
