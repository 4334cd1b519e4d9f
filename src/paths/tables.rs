//! The tables behind the kinds of paths: globs and words, separated by white space, in lower case.

/// The words of the product contract that make a change full; nothing else may be added here.
pub(super) const SECURITY_SURFACE: &str = "
    auth{,s} rls row/level{,s} rowlevel{,s} payment{,s} stripe{,s} crypto{,s} jwt{,s} jwks oauth{,s} owasp secret{,s} credential{,s}
    password{,s}
";

/// Wider words (ruling on T06).
pub(super) const SENSITIVE: &str = "
    authn authz authenticat{e,es,ed,ing,ion,or,ors} authori{s,z}{e,es,ed,ing,ation,er,ers} session{,s} login{,s} logout{,s} signup{,s}
    signin{,s} sign/{in,up} log/in sso saml oidc openid mfa otp totp webauthn passkey{,s} token{,s} jwk jws jwe passwd passphrase{,s}
    api/key{,s} apikey{,s} private/key{,s} keychain{,s} keyring{,s} keystore{,s} encrypt{,s,ed,ion,or} decrypt{,s,ed,ion,or} cipher{,s}
    crypt cryptography signature{,s} tls certificate{,s} billing invoice{,s} charge{,s} checkout{,s} refund{,s} acl{,s} access/control{,s}
    rbac permission{,s} privilege{,s} csrf cors sandbox{,es}
";

/// Words of tenancy, infrastructure and scheduled jobs.
pub(super) const INFRASTRUCTURE_WORDS: &str = "
    tenant{,s} tenancy multitenant multitenancy terraform helm k/8/s kubernetes kustomize cron{,s} crontab{,s} cronjob{,s}
";

/// Files of infrastructure tools that no word names.
pub(super) const INFRASTRUCTURE: &str = "
    **/*.{tf,tfvars,tofu} **/*.{tf,tfvars}.json **/terragrunt.hcl **/chart.yaml **/kustomization.{yaml,yml} **/helmfile.{yaml,yml}
";

/// Git hooks by name, and the files of hook managers.
pub(super) const HOOK: &str = "
    **/.pre-commit-config.{yaml,yml} **/.pre-commit-hooks.{yaml,yml} **/prek.toml **/{,.}lefthook{,-local}.{yaml,yml,toml,json}
    **/.lefthook/** **/.husky/** **/.huskyrc* **/{,.}githooks/** **/.git-hooks/** **/.overcommit.yml **/.lintstagedrc*
    **/lint-staged.config.* **/{,.}hk.pkl
    **/hooks/{pre,post,prepare,commit,reference}-{push,commit,merge,merge-commit,rebase,checkout,rewrite,receive,update,auto-gc,commit-msg,msg,transaction,applypatch}{,.*}
";

/// Continuous integration, dependency bots, code owners.
pub(super) const CI: &str = "
    **/.github/workflows/** **/.github/actions/** **/.github/dependabot.{yaml,yml} **/action.{yaml,yml} **/{,.}gitlab-ci*.{yaml,yml}
    **/.gitlab/** **/.circleci/** **/.travis.{yaml,yml} **/{,.}azure-pipelines*.{yaml,yml} **/.azure-pipelines/** **/jenkinsfile*
    **/.buildkite/** **/.drone.{yaml,yml,star} **/.woodpecker/** **/.woodpecker*.{yaml,yml} **/bitbucket-pipelines.yml
    **/{,.}appveyor.{yaml,yml} **/.ci/** **/.forgejo/** **/.gitea/** **/cloudbuild.{yaml,yml,json} **/buildspec.{yaml,yml} **/.teamcity/**
    **/.cirrus.{yaml,yml,star} **/{,.}renovate{,rc}.{json,json5} **/.renovaterc **/codeowners **/.mergify.{yaml,yml}
";

/// Instructions, rules, tools and settings of coding agents.
pub(super) const AGENT_INSTRUCTIONS: &str = "
    **/{agents,agent,claude,gemini,qwen,codex,copilot,warp,crush,skill,soul,conventions}{,.local,.override}.md **/.{agents,agent}.md
    **/.cursorrules **/.cursor/** **/.cursorignore **/.windsurfrules **/.windsurf/** **/.clinerules **/.clinerules/** **/.roo/**
    **/.roorules* **/.roomodes **/.claude/** **/.claude-plugin/** **/.codex/** **/.gemini/** **/.qwen/** **/.agents/** **/.agent/**
    **/.aider* **/.github/{copilot-instructions.md,instructions/**,prompts/**,agents/**,chatmodes/**,hooks/**} **/.copilot/**
    **/{,.}mcp.json **/.vscode/{mcp,tasks,settings,launch}.json **/.junie/** **/.kiro/** **/.continue/** **/.opencode/**
    **/opencode.{json,jsonc} **/.amazonq/** **/.augment/** **/.augment-guidelines **/.rules **/.trae/** **/.goosehints **/.goose/**
    **/.zed/**
";

/// What declares dependencies, builds or package sources.
pub(super) const MANIFEST: &str = "
    **/cargo.toml **/.cargo/config{,.toml} **/rust-toolchain{,.toml} **/package.json **/pnpm-workspace.yaml **/.npmrc **/.yarnrc*
    **/.pnpmfile.cjs **/bunfig.toml **/deno.{json,jsonc} **/tsconfig*.json **/pyproject.toml **/setup.cfg **/pipfile
    **/{,*-,*_}requirements{,-*,_*}.{txt,in} **/requirements/*.{txt,in} **/constraints*.txt **/environment.{yaml,yml} **/pip.conf **/uv.toml
    **/tox.ini **/go.{mod,work} **/pom.xml **/gradle.properties **/gradle-wrapper.properties **/libs.versions.toml **/gemfile
    **/composer.json **/pubspec.yaml **/*.{csproj,fsproj,vbproj,props,targets,sln,nuspec,gemspec,podspec,cabal} **/nuget.config
    **/packages.config **/podfile **/cartfile **/vcpkg.json **/conanfile.txt **/meson.build **/cmakelists.txt **/meson_options.txt
    **/configure.ac **/module.bazel **/.bazelrc **/flake.nix **/chart.yaml **/{docker-,}compose*.{yaml,yml} **/.dockerignore
    **/manifest.json **/.envrc **/.tool-versions **/mise.toml **/install.sh
";

/// What pins dependencies.
pub(super) const LOCKFILE: &str = "
    **/cargo.lock **/package-lock.json **/npm-shrinkwrap.json **/yarn.lock **/pnpm-lock.yaml **/bun.lock **/bun.lockb **/deno.lock
    **/poetry.lock **/uv.lock **/pdm.lock **/pipfile.lock **/pixi.lock **/go.sum **/go.work.sum **/gemfile.lock **/gems.locked
    **/composer.lock **/mix.lock **/pubspec.lock **/packages.lock.json **/paket.lock **/gradle.lockfile **/flake.lock **/podfile.lock
    **/package.resolved **/conan.lock **/.terraform.lock.hcl **/rebar.lock **/chart.lock **/module.bazel.lock
";

/// Program text.
pub(super) const SOURCE: &str = "
    **/*.{rs,go,py,pyi,pyx,pyw,rb,rake,erb,php,phtml,pl,pm,t,lua,tcl,r,jl,m,mm,swift,kt,kts,java,groovy,gradle,scala,sc,clj,cljs,cljc,edn}
    **/*.{c,h,cc,cpp,cxx,hh,hpp,hxx,inl,ipp,cu,cuh,cl,metal,glsl,hlsl,wgsl,vert,frag,s,asm,d,zig,nim,v,sv,svh,vhd,vhdl,ada,adb,ads,f,f90,f95,for,pas,cob,cbl}
    **/*.{cs,fs,fsx,fsi,vb,cshtml,razor,xaml,ex,exs,eex,heex,leex,erl,hrl,hs,lhs,ml,mli,elm,purs,rkt,scm,lisp,el,dart,cr,sol,vy,move,cairo,wat,as,coffee}
    **/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,vue,svelte,astro,html,htm,xhtml,css,scss,sass,less,styl,ejs,hbs,mustache,pug,j2,jinja,jinja2,liquid,twig,tmpl,tpl}
    **/*.{sh,bash,zsh,fish,ksh,csh,ps1,psm1,psd1,bat,cmd,awk,sed,nu,applescript,vbs,vim}
    **/*.{sql,psql,plsql,pgsql,tf,tfvars,tofu,hcl,nix,bicep,rego,cue,jsonnet,libsonnet,pkl,dhall,star,bzl,bazel,cmake,mk,mak,ninja,gn,gni,gyp,just}
    **/*.{proto,thrift,graphql,gql,avdl,idl,prisma,wit,y,l,g4,lalrpop,pest,ipynb,rmd,qmd,mdx,service,timer,socket,plist,reg,desktop}
    **/{dockerfile,containerfile,makefile,gnumakefile,rakefile,justfile,procfile,vagrantfile,brewfile,fastfile,tiltfile,snakefile,sconstruct,configure,build,workspace}{,.*}
";
