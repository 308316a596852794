// The recipes of Homebrew, the AUR and Nix. Each names the files of a release by address and SHA-256.

const LINE = 'Shows your day, your coding agents and what waits for you';

/** Homebrew: Formula/steward.rb. */
export function formula({ product, npm, share }) {
  return `class Steward < Formula
  desc "${LINE}"
  homepage "${product.homepage}"
  url "${npm.url}"
  sha256 "${npm.sha256}"
  license "${product.license}"

  depends_on "node"

  resource "share" do
    url "${share.url}"
    sha256 "${share.sha256}"
  end

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
    resource("share").stage do
      man1.install Dir["man/man1/*"]
      bash_completion.install "bash-completion/completions/steward"
      zsh_completion.install "zsh/site-functions/_steward"
      fish_completion.install "fish/vendor_completions.d/steward.fish"
    end
  end

  service do
    run [opt_bin/"steward", "daemon", "serve"]
    keep_alive true
    log_path var/"log/steward.log"
    error_log_path var/"log/steward.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/steward --version")
    shown = shell_output("#{bin}/steward demo --keep #{testpath}/demo -- sense today --json")
    assert_match "\\"day\\"", shown
  end
end
`;
}

/** AUR: PKGBUILD. */
export function pkgbuild({ product, npm, share }) {
  const versioned = (text) => text.replaceAll(product.version, '$pkgver').replace(product.homepage, '$url');
  return `# Maintainer: ${product.author}
pkgname=steward
pkgver=${product.version}
pkgrel=1
pkgdesc='${LINE}'
arch=('any')
url='${product.homepage}'
license=('${product.license}')
depends=('nodejs>=${product.engines.node.replace('>=', '')}')
makedepends=('npm')
optdepends=('git: records commits' 'github-cli: work as GitHub issues')
source=("${versioned(npm.url)}"
        "${versioned(share.url)}")
noextract=("${versioned(npm.name)}")
sha256sums=('${npm.sha256}'
            '${share.sha256}')

package() {
  npm install --global --offline --no-audit --no-fund --cache "$srcdir/npm-cache" --prefix "$pkgdir/usr" \\
    "$srcdir/${versioned(npm.name)}"
  cp -r "$srcdir/share" "$pkgdir/usr/"
  install -Dm644 "$pkgdir/usr/lib/node_modules/${product.name}/LICENSE" "$pkgdir/usr/share/licenses/$pkgname/LICENSE"
  find "$pkgdir/usr" -type d -exec chmod 755 {} +
  chown -R root:root "$pkgdir"
}
`;
}

/** AUR: .SRCINFO, what `makepkg --printsrcinfo` makes of PKGBUILD. */
export function srcinfo({ product, npm, share }) {
  const rows = {
    pkgdesc: LINE,
    pkgver: product.version,
    pkgrel: 1,
    url: product.homepage,
    arch: 'any',
    license: product.license,
    makedepends: 'npm',
    depends: `nodejs${product.engines.node}`,
    optdepends: ['git: records commits', 'github-cli: work as GitHub issues'],
    noextract: npm.name,
    source: [npm.url, share.url],
    sha256sums: [npm.sha256, share.sha256],
  };
  const lines = Object.entries(rows).flatMap(([key, values]) =>
    [values].flat().map((value) => `\t${key} = ${value}\n`),
  );
  return `pkgbase = steward\n${lines.join('')}\npkgname = steward\n`;
}

/** Nix: flake.nix. */
export function flake({ product, npm, share }) {
  const sri = ({ sha256 }) => `sha256-${Buffer.from(sha256, 'hex').toString('base64')}`;
  return `{
  description = "${LINE}";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { nixpkgs, ... }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      stewardFor =
        pkgs:
        pkgs.stdenvNoCC.mkDerivation {
          pname = "steward";
          version = "${product.version}";
          src = pkgs.fetchurl {
            url = "${npm.url}";
            hash = "${sri(npm)}";
          };
          share = pkgs.fetchurl {
            url = "${share.url}";
            hash = "${sri(share)}";
          };
          sourceRoot = "package";
          nativeBuildInputs = [ pkgs.makeWrapper ];
          dontBuild = true;
          installPhase = ''
            home=$out/lib/steward
            mkdir -p $home/bin $home/lib/node_modules $out/bin
            cp -r . $home/lib/node_modules/${product.name}
            tar -xzf $share -C $out
            # Hooks find both here by the profile, whose path stays when steward or Node.js is upgraded.
            ln -s \${pkgs.nodejs}/bin/node $home/bin/node
            makeWrapper \${pkgs.nodejs}/bin/node $out/bin/steward \
              --add-flags $home/lib/node_modules/${product.name}/bin/run.js
          '';
          meta = {
            description = "${LINE}";
            homepage = "${product.homepage}";
            license = pkgs.lib.licenses.mit;
            mainProgram = "steward";
          };
        };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = stewardFor nixpkgs.legacyPackages.\${system};
      });
    };
}
`;
}
